//! Requests that follow a link of the page before: JMeter's HTML Link Parser.
//!
//! As in JMeter the request keeps its method and port. A link to a server that the plan does not
//! name is not followed: nothing is sent to hosts that were not known before the test.

use weir_plan::{Argument, HttpRequest};
use weir_response::{PageRequest, RequestPattern, filled_in, matching_requests};
use weir_script::Text;

use crate::user::User;
use crate::work::Work;

impl User {
    /// The request as a link of the last response makes it; `None`: no link fits, and the request
    /// is sent as it stands.
    pub(crate) fn follow_link(
        &mut self,
        work: &Work,
        request: &HttpRequest<Text>,
    ) -> Option<Box<HttpRequest<Text>>> {
        let previous = self.scope.previous.clone()?;
        let scope = &mut self.scope;
        let protocol = request.protocol.rendered(scope);
        let host = match &work.target {
            Some(target) => target.host.clone(),
            None => request.host.rendered(scope),
        };
        let arguments = request.arguments.iter();
        let pattern = RequestPattern {
            protocol: if protocol.is_empty() {
                "http".to_owned()
            } else {
                protocol
            },
            host,
            path: request.path.rendered(scope),
            arguments: arguments
                .map(|argument| {
                    (
                        argument.name.rendered(scope),
                        argument.value.rendered(scope),
                    )
                })
                .collect(),
        };
        let core = std::rc::Rc::clone(&self.core);
        let mut patterns = core.patterns.borrow_mut();
        let mut found = matching_requests(&previous.body, &previous.url, &pattern, &mut patterns);
        found.retain(|link| work.servers.iter().any(|server| server.host == link.host));
        let mut random = |count: usize| {
            use rand_xoshiro::rand_core::Rng as _;
            (self.scope.random.next_u64() % count.max(1) as u64) as usize
        };
        if found.is_empty() {
            return None;
        }
        let link = found.swap_remove(random(found.len()));
        let mut followed = Box::new(request.clone());
        followed.protocol = Text::literal(&link.protocol);
        followed.host = Text::literal(&link.host);
        followed.path = Text::literal(&link.path);
        if link.is_form {
            let filled = filled_in(&pattern.arguments, &link.fields, &mut patterns, &mut random);
            for (argument, filled) in followed.arguments.iter_mut().zip(filled) {
                if let Some((name, value)) = filled {
                    argument.name = Text::literal(&name);
                    argument.value = Text::literal(&value);
                }
            }
        } else {
            followed.arguments = query(&link);
        }
        Some(followed)
    }
}

/// The query of a link, as it stands in the page.
fn query(link: &PageRequest) -> Vec<Argument<Text>> {
    let fields = link.fields.iter();
    fields
        .map(|(name, value)| Argument {
            name: Text::literal(name),
            value: Text::literal(value),
            always_encode: false,
            use_equals: true,
            content_type: Text::literal(""),
        })
        .collect()
}
