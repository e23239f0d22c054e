//! "Retrieve All Embedded Resources": what a page embeds is fetched like a browser would.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use weir_plan::EmbeddedResources;
use weir_record::SampleRow;
use weir_response::{Link, SampleView, page_links, style_sheet_links};
use weir_script::{Carries, Scope, Text, base_url, normalized, resource_url};

use super::{Asked, Common, Fetched, Hands, add, failed, put, whole_of};
use crate::http::client::Client;
use crate::http::response::Kept;
use crate::parallel::{PARALLEL, PARALLEL_MAX};
use crate::user::seen::{charset, field, media_type};

/// Which of a page's resources are fetched, and how many at once.
#[derive(Debug)]
pub(crate) struct Embedding {
    matching: String,
    excluding: String,
    parallel: Option<usize>,
}

impl Embedding {
    /// The plan's settings as they are for this sample.
    pub(crate) fn of(resources: &EmbeddedResources<Text>, scope: &mut Scope) -> Self {
        let parallel = resources.parallel.as_ref().map(|most| {
            let most = most.rendered(scope).trim().parse().unwrap_or(PARALLEL);
            most.clamp(1, PARALLEL_MAX)
        });
        Self {
            matching: resources.matching.rendered(scope),
            excluding: resources.excluding.rendered(scope),
            parallel: parallel.filter(|most| *most > 1),
        }
    }
}

impl Common<'_> {
    /// Fetches what a page embeds. The page becomes the first part of a whole as soon as it names
    /// anything, wanted or not.
    pub(super) async fn embed(
        &self,
        hands: &mut Hands<'_>,
        page: Fetched,
        embedding: &Embedding,
        depth: u32,
    ) -> Fetched {
        let mut page = page;
        let named = page.kept.as_deref().map(|kept| named(kept, &page.sent.url));
        let named = match named.unwrap_or_else(|| Ok(Vec::new())) {
            Ok(named) => named,
            Err(says) => {
                let class = "org.apache.jmeter.protocol.http.parser.HTMLParseException";
                let part = failed(&mut page.row, class, &says);
                take(&mut page.row, part);
                return page;
            }
        };
        if named.is_empty() {
            return page;
        }
        let mut whole = whole_of(&mut page.row);
        put(&mut whole, std::mem::take(&mut page.row));
        let wanted: Vec<String> = named
            .into_iter()
            .filter(|url| self.wants(embedding, url))
            .map(|url| normalized(&self.way.work.servers.here(&url)))
            .collect();
        let at_once = embedding.parallel.filter(|_| hands.more.is_some());
        match at_once {
            Some(at_once) => {
                let parts = self.fetch_at_once(hands, &wanted, at_once, depth).await;
                for part in parts {
                    page.ended = page.ended.max(part.ended);
                    take(&mut whole, self.part(part));
                }
            }
            None => {
                for url in &wanted {
                    let Some(part) = self.fetch(hands, resource(url, depth)).await else {
                        continue;
                    };
                    page.ended = page.ended.max(part.ended);
                    take(&mut whole, self.part(part));
                }
            }
        }
        page.row = whole;
        page
    }

    /// Whether the plan's expressions let a resource through; one that is no expression lets all.
    fn wants(&self, embedding: &Embedding, url: &str) -> bool {
        let mut patterns = self.core.patterns.borrow_mut();
        let mut matches = |expression: &str| match expression {
            "" => None,
            expression => patterns.matches(expression, url),
        };
        matches(&embedding.matching).unwrap_or(true)
            && !matches(&embedding.excluding).unwrap_or(false)
    }

    /// Fetches several resources at once; the answers are in the order of the page.
    async fn fetch_at_once(
        &self,
        hands: &mut Hands<'_>,
        urls: &[String],
        at_once: usize,
        depth: u32,
    ) -> Vec<Fetched> {
        let Some(more) = hands.more.as_deref_mut() else {
            return Vec::new();
        };
        let at_once = at_once.min(urls.len());
        while more.len() + 1 < at_once {
            more.push(Client::new(Rc::clone(&self.core.io)));
        }
        let waiting = RefCell::new(urls.iter().enumerate());
        let fetched = RefCell::new(Vec::new());
        let (waiting, done) = (&waiting, &fetched);
        let clients = std::iter::once(&mut *hands.client).chain(more.iter_mut());
        let lanes = clients.take(at_once).map(|client| {
            let lane = async move {
                let mut hands = Hands { client, more: None };
                loop {
                    let next = waiting.borrow_mut().next();
                    let Some((at, url)) = next else { break };
                    let part = self.fetch(&mut hands, resource(url, depth)).await;
                    done.borrow_mut().extend(part.map(|part| (at, part)));
                }
            };
            Box::pin(lane) as Pin<Box<dyn Future<Output = ()> + '_>>
        });
        all(lanes.collect()).await;
        let mut fetched = fetched.into_inner();
        fetched.sort_by_key(|(at, _)| *at);
        fetched.into_iter().map(|(_, part)| part).collect()
    }
}

/// Waits until all are done. There are few: looking at each whenever one moves costs nothing.
pub(crate) async fn all(mut lanes: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    poll_fn(|context| {
        lanes.retain_mut(|lane| lane.as_mut().poll(context).is_pending());
        if lanes.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

fn resource(url: &str, depth: u32) -> Asked<'_> {
    Asked {
        url,
        method: "GET",
        carries: Carries::RawBody,
        is_target: false,
        depth: depth + 1,
    }
}

/// Takes a resource into the page's sample; one that failed fails it.
fn take(whole: &mut SampleRow, part: SampleRow) {
    let succeeded = whole.success && part.success;
    add(whole, part);
    if succeeded {
        return;
    }
    whole.success = false;
    let mut says = "Embedded resource download error:".to_owned();
    for part in whole.children.iter().filter(|part| !part.success) {
        let url = if part.url.is_empty() {
            "null"
        } else {
            &part.url
        };
        let (code, message) = (&part.response_code, &part.response_message);
        write!(says, "{url} code:{code} message:{message}, ")
            .expect("writing to a String never fails");
    }
    whole.response_message = says.into();
}

/// The URLs that a response names, each once, in its order; or why JMeter gives it up.
fn named(kept: &Kept, url: &str) -> Result<Vec<String>, String> {
    let head = kept.head_text();
    let content_type = field(&head, "content-type").unwrap_or_default();
    let media_type = media_type(content_type).to_ascii_lowercase();
    let page = SampleView {
        body: &kept.body,
        encoding: charset(content_type),
        content_type: &media_type,
        ..SampleView::default()
    };
    let links = match media_type.as_str() {
        "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => {
            page_links(page.text())
        }
        "text/css" => style_sheet_links(page.text()),
        _ => Vec::new(),
    };
    let mut base = url.to_owned();
    let mut seen = std::collections::HashSet::new();
    let mut urls = Vec::new();
    for link in links {
        match link {
            Link::Base(link) => {
                base = base_url(&base, &link).ok_or_else(|| {
                    format!(
                        "java.lang.IllegalArgumentException: Error creating relative url from {link}"
                    )
                })?;
            }
            Link::Resource(link) => {
                let url = resource_url(&base, &link);
                urls.extend(url.filter(|url| seen.insert(url.clone())));
            }
        }
    }
    Ok(urls)
}
