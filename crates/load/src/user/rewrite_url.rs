//! `HTTP URL Re-writing Modifier`: the id of a session, taken out of the page before and given to
//! the request.

use std::rc::Rc;

use weir_charset::{Charset, DecodeError, decode_form};
use weir_plan::{HttpRequest, SamplerKind, SessionIdPlace, UrlRewriting};
use weir_response::{Patterns, quotemeta};
use weir_script::{ArgumentView, Text, path_and_arguments};

use crate::user::User;
use crate::user::seen_by_scripts::literal;
use crate::work::Step;

impl User {
    /// Gives a step's request the id of the session that the response before has. Without a
    /// response nothing happens; without an id in it the request is given an empty one (JMeter).
    pub(crate) fn rewrite_url(&mut self, step: &Step, rewriting: &UrlRewriting<Text>) {
        let SamplerKind::Http(planned) = &step.source.kind else {
            return;
        };
        let Some(previous) = self.scope.previous.clone() else {
            return;
        };
        let name = rewriting.argument.rendered(&mut self.scope);
        let core = Rc::clone(&self.core);
        let patterns = &mut core.patterns.borrow_mut();
        let mut id = session_id(patterns, &name, rewriting.place, &previous.body);
        if rewriting.keeps {
            let kept = &mut self.data.session_ids;
            let known = kept.iter_mut().find(|(of, _)| *of == rewriting.id);
            match known {
                Some((_, known)) if id.is_empty() => id.clone_from(known),
                Some((_, known)) => known.clone_from(&id),
                None => kept.push((rewriting.id, id.clone())),
            }
        }
        let left = self.data.scripts.get_or_insert_default();
        let mut request = left.request.as_deref().unwrap_or(planned).clone();
        let given = match rewriting.place {
            SessionIdPlace::Argument => {
                let arguments = &mut request.arguments;
                arguments.retain(|argument| argument.name.rendered(&mut self.scope) != name);
                let argument = if rewriting.encodes {
                    Ok((name, id))
                } else {
                    decoded(&name, &id)
                };
                argument
                    .map(|(name, id)| arguments.push(literal(&ArgumentView::added(name, id, true))))
            }
            SessionIdPlace::Path { equals, .. } => {
                let path = request.path.rendered(&mut self.scope);
                let path = path_with_id(&path, &name, equals, &id);
                let method = request.method.rendered(&mut self.scope);
                set_path(&mut request, &method, &path)
            }
        };
        match given {
            Ok(()) => left.request = Some(Rc::new(request)),
            Err(error) => self.lose_sample(&error.to_string()),
        }
    }
}

/// What stands for a session's id in a page; empty, if nothing does.
fn session_id(patterns: &mut Patterns, name: &str, place: SessionIdPlace, page: &str) -> String {
    let found = patterns.first(&pattern(&quotemeta(name), place), page);
    // The first is the whole match.
    let groups = found.into_iter().flat_map(|found| found.groups).skip(1);
    groups.flatten().next().unwrap_or_default()
}

/// The expression whose first group that matches is the id: what follows the name in an address,
/// or, for an argument, also the value of a field of a form.
fn pattern(name: &str, place: SessionIdPlace) -> String {
    match place {
        SessionIdPlace::Path {
            equals,
            ends_at_query,
        } => {
            let equals = if equals { "=" } else { "" };
            let query = if ends_at_query { "?" } else { "" };
            format!(r#";{name}{equals}([^"'<>&\s;{query}]*)"#)
        }
        SessionIdPlace::Argument => {
            let attribute = |word: &str, value: &str| {
                let letters = word
                    .chars()
                    .map(|c| format!("[{c}{}]", c.to_ascii_uppercase()));
                let word: String = letters.collect();
                format!(r#"\s{word}\s*=\s*["']{value}["']"#)
            };
            let named = attribute("name", name);
            let valued = attribute("value", r#"([^"']*)"#);
            format!(r#"[;\?&]{name}=([^"'<>&\s;\\]*)|{named}[^>]*{valued}|{valued}[^>]*{named}"#)
        }
    }
}

/// The path with the id behind it instead of one that it has. What stands behind an id that is
/// replaced goes too, up to a query.
fn path_with_id(path: &str, name: &str, equals: bool, id: &str) -> String {
    let begin = format!(";{name}");
    let path = match path.split_once(&begin) {
        None => path.to_owned(),
        Some((path, rest)) => {
            let query = rest.find('?').map_or("", |at| &rest[at..]);
            format!("{path}{query}")
        }
    };
    let equals = if equals { "=" } else { "" };
    format!("{path}{begin}{equals}{id}")
}

fn set_path(request: &mut HttpRequest<Text>, method: &str, path: &str) -> Result<(), DecodeError> {
    let (path, arguments) = path_and_arguments(method, path)?;
    request.path = Text::literal(&path);
    request.arguments.extend(arguments.iter().map(literal));
    Ok(())
}

fn decoded(name: &str, id: &str) -> Result<(String, String), DecodeError> {
    let decoded = |text| decode_form(text, Charset::UTF_8);
    Ok((decoded(name)?, decoded(id)?))
}
