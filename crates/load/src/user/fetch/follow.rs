//! "Follow Redirects": each hop is a sample of its own inside the whole.

use std::sync::Arc;

use weir_record::SampleRow;
use weir_script::{Carries, redirect_url};

use super::{Asked, Common, Fetched, Hands, add, fail, put, whole_of};
use crate::user::leg::REDIRECTS_MAX;

impl Common<'_> {
    /// Goes where a response leads until one leads nowhere.
    ///
    /// The whole begins with the first request, has the first one's connect time and latency, the
    /// sum of all bytes, and the outcome of the last.
    pub(super) async fn follow(
        &self,
        hands: &mut Hands<'_>,
        first: Fetched,
        depth: u32,
    ) -> Fetched {
        let mut last = first;
        let mut whole = whole_of(&mut last.row);
        let mut outcome = whole.clone();
        put(&mut whole, std::mem::take(&mut last.row));
        let mut hops = 0;
        while let Some(location) = last.location.take() {
            if hops == REDIRECTS_MAX {
                let says = format!("Exceeded maximum number of redirects: {REDIRECTS_MAX}");
                fail(&mut outcome, "java.io.IOException", &says);
                add(&mut whole, outcome.clone());
                break;
            }
            hops += 1;
            let url = match redirect_url(&last.sent.url, &location) {
                Ok(url) => self.way.work.servers.here(&url).into_owned(),
                Err(unsendable) => {
                    // It is the redirect itself that fails.
                    let parts = whole.children.last_mut();
                    for row in parts.into_iter().chain([&mut outcome]) {
                        fail(row, unsendable.class(), unsendable.message());
                    }
                    break;
                }
            };
            let asked = Asked {
                url: &url,
                method: if last.sent.is_head { "HEAD" } else { "GET" },
                carries: Carries::Nothing,
                is_target: true,
                depth,
            };
            let Some(mut next) = self.fetch(hands, asked).await else {
                break;
            };
            next.ended = next.ended.max(last.ended);
            outcome = whole_of(&mut next.row);
            add_all(&mut whole, std::mem::take(&mut next.row));
            self.part(std::mem::replace(&mut last, next));
        }
        take_outcome(&mut whole, &outcome);
        last.row = whole;
        last
    }
}

/// A target with parts gives its parts only.
fn add_all(whole: &mut SampleRow, target: SampleRow) {
    if target.children.is_empty() {
        add(whole, target);
        return;
    }
    for part in target.children {
        add(whole, part);
    }
}

fn take_outcome(whole: &mut SampleRow, last: &SampleRow) {
    whole.url = Arc::clone(&last.url);
    whole.success = last.success;
    whole.response_code = Arc::clone(&last.response_code);
    whole.response_message = Arc::clone(&last.response_message);
    whole.data_type = last.data_type;
}
