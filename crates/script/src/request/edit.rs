//! Header fields of a request that has been written already: what a user's session adds to it.

use std::ops::Range;

use super::head::push_field;
use super::{FieldsAt, SentRequest};

impl SentRequest {
    /// Names and values of the header fields, with a character for each byte: all of them, or those
    /// in front of what the library adds.
    pub fn header_fields(&self, until: FieldsAt) -> Vec<(String, String)> {
        let end = self.place(until);
        let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
        let field = |line: Range<usize>| {
            let line = &self.bytes[line];
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((text(&line[..colon]), text(line[colon + 1..].trim_ascii())))
        };
        let lines = self.lines().take_while(|line| line.start < end);
        lines.filter_map(field).collect()
    }

    /// Whether the request has a field of this name.
    pub fn has_field(&self, name: &str) -> bool {
        self.lines().any(|line| self.is_field(&line, name))
    }

    /// Replaces the first field of a name, or adds the field after those of the plan.
    pub fn set_field(&mut self, name: &str, value: &str) {
        let mut field = Vec::new();
        push_field(&mut field, name, value);
        let known = self.lines().find(|line| self.is_field(line, name));
        match known {
            Some(line) => self.replace(line, &field),
            None => self.insert_fields(FieldsAt::AfterPlan, &field),
        }
    }

    /// Adds a field at the end of the head.
    pub fn add_last_field(&mut self, name: &str, value: &str) {
        let mut field = Vec::new();
        push_field(&mut field, name, value);
        self.insert_fields(FieldsAt::End, &field);
    }

    /// Takes the first field of a name away.
    pub fn remove_field(&mut self, name: &str) {
        let known = self.lines().find(|line| self.is_field(line, name));
        if let Some(line) = known {
            self.replace(line, &[]);
        }
    }

    /// What is asked for, as it stands in the first line.
    pub fn uri(&self) -> &str {
        let line = self.bytes.split(|byte| *byte == b'\r').next();
        let mut words = line.unwrap_or_default().split(|byte| *byte == b' ');
        str::from_utf8(words.nth(1).unwrap_or_default()).expect("a request line is ASCII")
    }

    /// Request line and header fields, without the empty line.
    pub fn head(&self) -> &[u8] {
        &self.bytes[..self.head_end.min(self.bytes.len())]
    }

    /// The body, up to the first file.
    pub fn written_body(&self) -> &[u8] {
        self.bytes.get(self.head_end + 2..).unwrap_or_default()
    }

    fn place(&self, at: FieldsAt) -> usize {
        match at {
            FieldsAt::AfterPlan => self.fields_end,
            FieldsAt::End => self.head_end,
        }
    }

    /// The lines after the first, each with its line end.
    fn lines(&self) -> impl Iterator<Item = Range<usize>> {
        let head = self.head();
        let mut start = 0;
        let lines = head
            .split_inclusive(|byte| *byte == b'\n')
            .map(move |line| {
                let range = start..start + line.len();
                start = range.end;
                range
            });
        lines.skip(1)
    }

    fn is_field(&self, line: &Range<usize>, name: &str) -> bool {
        let line = &self.bytes[line.clone()];
        let (start, rest) = line.split_at(name.len().min(line.len()));
        start.eq_ignore_ascii_case(name.as_bytes()) && rest.starts_with(b":")
    }

    /// Replaces bytes of the head and keeps its places right.
    fn replace(&mut self, range: Range<usize>, with: &[u8]) {
        let moved = |place: usize| {
            if place >= range.end {
                place - range.len() + with.len()
            } else {
                place
            }
        };
        self.fields_end = moved(self.fields_end);
        self.head_end = moved(self.head_end);
        self.bytes.splice(range, with.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> SentRequest {
        let head = "POST /a?b HTTP/1.1\r\nConnection: close\r\nCookie: own\r\n";
        let rest = "Content-Length: 2\r\nHost: h\r\n";
        SentRequest {
            bytes: format!("{head}{rest}\r\nno").into_bytes(),
            fields_end: head.len(),
            head_end: head.len() + rest.len(),
            ..SentRequest::default()
        }
    }

    fn text(request: &SentRequest) -> &str {
        str::from_utf8(&request.bytes).expect("ASCII")
    }

    #[test]
    fn fields_are_replaced_in_their_place_or_added() {
        let mut request = request();
        request.set_field("cookie", "given=1");
        request.set_field("If-None-Match", "\"x\"");
        request.set_field("Cookie", "given=2; more=3");
        request.add_last_field("Authorization", "Basic x");
        assert_eq!(
            text(&request),
            "POST /a?b HTTP/1.1\r\nConnection: close\r\nCookie: given=2; more=3\r\n\
             If-None-Match: \"x\"\r\nContent-Length: 2\r\nHost: h\r\nAuthorization: Basic x\r\n\r\nno"
        );
        assert_eq!(
            (request.uri(), request.written_body()),
            ("/a?b", &b"no"[..])
        );
        request.remove_field("AUTHORIZATION");
        request.remove_field("If-None-Match");
        request.set_field("Cookie", "own");
        assert_eq!(request, self::request());
    }

    #[test]
    fn fields_can_be_listed() {
        let request = request();
        let names = |until: FieldsAt| -> Vec<String> {
            let fields = request.header_fields(until).into_iter();
            fields
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        };
        assert_eq!(
            names(FieldsAt::AfterPlan),
            ["Connection=close", "Cookie=own"]
        );
        assert_eq!(names(FieldsAt::End).len(), 4);
        assert!(request.has_field("host") && !request.has_field("Hos") && !request.has_field("no"));
        assert!(!SentRequest::default().has_field("Host"));
        assert_eq!(SentRequest::default().uri(), "");
    }
}
