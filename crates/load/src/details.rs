//! What result files show of a sample beside its row: headers, bodies, variables.
//!
//! Only noted where a file asks for it; most samples never allocate any of this.

use weir_record::{SampleDetails, SampleRow};
use weir_script::{Scope, SentRequest};

use crate::audience::Wanted;
use crate::http::response::Kept;

/// Notes what is shown of an HTTP request and of what was kept of its response.
pub(crate) fn note_exchange(
    row: &mut SampleRow,
    sent: &SentRequest,
    kept: Option<&Kept>,
    wanted: Wanted,
) {
    let shows_body = wanted.body_of(row.success);
    let details = row.details.get_or_insert_default();
    note_request(details, sent);
    let Some(kept) = kept else { return };
    note_response_head(details, &kept.head_text());
    if shows_body {
        details.response_data = Some(kept.body.clone());
    }
}

/// What is shown of a part of a sample, and what its own response said.
pub(crate) fn of_part(sent: &SentRequest, kept: Option<&Kept>) -> SampleDetails {
    let mut details = SampleDetails::default();
    note_request(&mut details, sent);
    if let Some(kept) = kept {
        note_response_head(&mut details, &kept.head_text());
    }
    details
}

/// A sample that was led somewhere else shows where its first response led.
pub(crate) fn note_redirect(row: &mut SampleRow) {
    let first = row.children.first().and_then(|part| part.details.as_ref());
    let Some(first) = first.filter(|first| !first.redirect_location.is_empty()) else {
        return;
    };
    let location = first.redirect_location.clone();
    row.details.get_or_insert_default().redirect_location = location;
}

/// Notes what is shown of a sampler that answers a text of its own.
pub(crate) fn note_text(
    row: &mut SampleRow,
    asked: Option<&str>,
    answered: Option<&str>,
    wanted: Wanted,
) {
    let shows_body = wanted.body_of(row.success);
    let details = row.details.get_or_insert_default();
    details.sampler_data = asked.map(str::to_owned);
    if answered.is_some() {
        "UTF-8".clone_into(&mut details.encoding);
    }
    if shows_body {
        details.response_data = Some(answered.unwrap_or_default().as_bytes().to_vec());
    }
}

/// Notes the values of these variables in a sample and all its parts, unless they are noted: those
/// at its end, as they were before anybody heard of it.
pub(crate) fn note_variables(row: &mut SampleRow, names: &[String], scope: &Scope) {
    let noted = row.details.as_ref();
    if names.is_empty() || noted.is_some_and(|details| !details.variables.is_empty()) {
        return;
    }
    let value = |name: &String| scope.variables.get(name).map(str::to_owned);
    set_variables(row, &names.iter().map(value).collect::<Vec<_>>());
}

fn set_variables(row: &mut SampleRow, values: &[Option<String>]) {
    row.details.get_or_insert_default().variables = values.to_vec();
    for part in &mut row.children {
        set_variables(part, values);
    }
}

/// As JMeter shows it: cookies are not among the header's lines, the body is the query.
fn note_request(details: &mut SampleDetails, sent: &SentRequest) {
    let head = sent.head().iter().copied().map(char::from);
    let head: String = head.collect();
    sent.method().clone_into(&mut details.method);
    for line in head.lines().skip(1) {
        match field(line, "cookie") {
            Some(cookies) => cookies.clone_into(&mut details.cookies),
            None => details.request_headers.extend([line, "\n"]),
        }
    }
    details.query = sent.shown_body().into_owned();
}

fn note_response_head(details: &mut SampleDetails, head: &str) {
    let mut lines = head.lines().filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let code = first.split(' ').nth(1).unwrap_or_default();
    // 307 and 308 only for requests that may be sent again.
    let is_redirect = match code {
        "301" | "302" | "303" => true,
        "307" | "308" => matches!(details.method.as_str(), "GET" | "HEAD"),
        _ => false,
    };
    details.response_headers.extend([first, "\n"]);
    for line in lines {
        details.response_headers.extend([line, "\n"]);
        if let Some(location) = field(line, "location").filter(|_| is_redirect) {
            location.clone_into(&mut details.redirect_location);
        }
        if let Some(charset) = field(line, "content-type").and_then(charset) {
            charset.clone_into(&mut details.encoding);
        }
    }
}

/// The value of a header line, if it is of this field.
pub(crate) fn field<'a>(line: &'a str, wanted: &str) -> Option<&'a str> {
    let (name, value) = line.split_once(':')?;
    name.trim()
        .eq_ignore_ascii_case(wanted)
        .then(|| value.trim())
}

/// The character set that a content type names.
fn charset(content_type: &str) -> Option<&str> {
    let parameter = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Some(parameter.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(head: &str, method: &str) -> SampleDetails {
        let mut details = SampleDetails {
            method: method.to_owned(),
            ..SampleDetails::default()
        };
        note_response_head(&mut details, head);
        details
    }

    #[test]
    fn heads_are_shown_as_jmeter_shows_them() {
        let details = shown("HTTP/1.1 302 Found\r\nLocation: /r2\r\n\r\n", "POST");
        assert_eq!(
            details.response_headers,
            "HTTP/1.1 302 Found\nLocation: /r2\n"
        );
        assert_eq!(details.redirect_location, "/r2");
        let again = shown("HTTP/1.1 307 Temporary\r\nLocation: /r2\r\n\r\n", "POST");
        assert_eq!(again.redirect_location, "");
        let typed = shown(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; Charset=\"x\"\r\n\r\n",
            "GET",
        );
        assert_eq!(typed.encoding, "x");
    }

    #[test]
    fn cookies_are_not_among_the_request_headers() {
        let text = weir_script::Text::literal;
        let request = weir_plan::HttpRequest {
            host: text("h"),
            path: text("/a"),
            method: text("POST"),
            raw_body: true,
            encoding: text("ISO-8859-1"),
            arguments: vec![weir_plan::Argument {
                name: text(""),
                value: text("k=é€"),
                always_encode: false,
                use_equals: true,
                content_type: text(""),
            }],
            headers: vec![(text("Cookie"), text("a=b; c=d"))],
            ..weir_plan::HttpRequest::default()
        };
        let sent = weir_script::prepare_request(&request, None);
        let sent = sent.expect("it is constant").expect("it can be sent");
        let mut details = SampleDetails::default();
        note_request(&mut details, &sent);
        let expected = "Connection: close\nContent-Length: 4\n\
                        Content-Type: text/plain; charset=ISO-8859-1\nHost: h\nUser-Agent: ";
        assert!(details.request_headers.starts_with(expected));
        assert_eq!(details.cookies, "a=b; c=d");
        assert_eq!((&*details.method, &*details.query), ("POST", "k=é€"));
    }
}
