//! What extractors and assertions can see of a sample.

use std::borrow::Cow;
use std::cell::OnceCell;

use weir_charset::Charset;
use weir_plan::SampleField;

use crate::json::Json;

/// A sample as its listeners see it.
///
/// Fields that nobody will look at may stay empty: the ones that an element looks at are named in
/// [`weir_plan::SampleField`] and [`weir_plan::SizeField`].
#[derive(Debug, Clone, Default)]
pub struct SampleView<'a> {
    /// The URL, if the sample has one.
    pub url: Option<&'a str>,
    /// The response code: a number, or `Non HTTP response code: …`, or nothing.
    pub response_code: &'a str,
    /// The response message.
    pub response_message: &'a str,
    /// Status line and header lines, each ended by a line feed, as JMeter shows them.
    pub response_headers: &'a str,
    /// The header lines of the request, each ended by a line feed.
    pub request_headers: &'a str,
    /// What was sent: for HTTP, method, URL, body, cookies, as JMeter shows them.
    pub request_data: &'a str,
    /// The body, with its content encoding undone.
    pub body: &'a [u8],
    /// The charset that the content type names; `None` or empty: UTF-8, unless an HTML page says
    /// otherwise.
    pub encoding: Option<&'a str>,
    /// The media type of the body, without parameters; empty when unknown.
    pub content_type: &'a str,
    /// Whether the sample succeeded before any assertion.
    pub successful: bool,
    /// Elapsed time.
    pub elapsed_ms: u64,
    /// Header and body as they came over the network.
    pub received_bytes: u64,
    /// The header as it came over the network.
    pub header_bytes: u64,
    /// The body as it came over the network.
    pub body_bytes: u64,
    /// Sub-samples, in their order.
    pub children: Vec<SampleView<'a>>,
    /// The body as text and as JSON, kept once it was asked for; start with the default.
    pub decoded: DecodedBody<'a>,
}

/// What has been made of a body so far.
#[derive(Debug, Clone, Default)]
pub struct DecodedBody<'a> {
    text: OnceCell<Cow<'a, str>>,
    json: OnceCell<Result<Json, String>>,
}

impl<'a> SampleView<'a> {
    /// The body as text, in its own charset.
    pub fn text(&self) -> &str {
        let decoded = &self.decoded.text;
        decoded.get_or_init(|| decode(self.body, &self.charset()))
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<&Json, &str> {
        let decoded = &self.decoded.json;
        let json = decoded.get_or_init(|| Json::parse(self.text()));
        json.as_ref().map_err(String::as_str)
    }

    /// A field as text.
    pub(crate) fn field(&self, field: SampleField) -> Cow<'_, str> {
        Cow::Borrowed(match field {
            SampleField::Body => self.text(),
            SampleField::BodyUnescaped => return html_escape::decode_html_entities(self.text()),
            SampleField::ResponseHeaders => self.response_headers,
            SampleField::RequestHeaders => self.request_headers,
            SampleField::Url => self.url.unwrap_or_default(),
            SampleField::ResponseCode => self.response_code,
            SampleField::ResponseMessage => self.response_message,
            SampleField::RequestData => self.request_data,
        })
    }

    fn charset(&self) -> Cow<'a, str> {
        match self.encoding {
            Some(charset) if !charset.is_empty() => Cow::Borrowed(charset),
            _ if self.content_type.starts_with("text/html") => {
                Cow::Owned(charset_of_page(self.body).unwrap_or_default())
            }
            _ => Cow::Borrowed(""),
        }
    }
}

/// The charset in a page's `<meta http-equiv="content-type" content="…">`, written exactly so, in
/// its first 2000 bytes: JMeter looks no further.
fn charset_of_page(body: &[u8]) -> Option<String> {
    const TAG: &str = "<meta http-equiv=\"content-type\" content=\"";
    let start = &body[..body.len().min(2000)];
    let start: String = start
        .iter()
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let (_, content) = start.split_once(TAG)?;
    let (content, _) = content.split_once('"')?;
    let (_, charset) = content.split_once("charset=")?;
    let charset = charset.split(';').next().unwrap_or_default();
    Some(charset.trim().trim_matches('"').to_owned())
}

/// Decodes as Java does: broken sequences become U+FFFD, an unknown charset reads as UTF-8.
fn decode<'a>(body: &'a [u8], charset: &str) -> Cow<'a, str> {
    Charset::named(charset).unwrap_or_default().decode(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(body: &[u8], encoding: Option<&str>, content_type: &str) -> String {
        let view = SampleView {
            body,
            encoding,
            content_type,
            ..SampleView::default()
        };
        view.text().to_owned()
    }

    #[test]
    fn a_body_is_decoded_in_its_charset() {
        assert_eq!(text_of(b"caf\xc3\xa9", None, ""), "café");
        assert_eq!(
            text_of(b"caf\xe9\x80", Some("ISO-8859-1"), ""),
            "café\u{80}"
        );
        assert_eq!(text_of(b"\x80", Some("windows-1252"), ""), "€");
        assert_eq!(text_of(b"\x82\xa0", Some("Shift_JIS"), ""), "あ");
        assert_eq!(text_of(b"a\xe9", Some("us-ascii"), ""), "a\u{fffd}");
        assert_eq!(text_of(b"a\xe9", Some("no such"), ""), "a\u{fffd}");
    }

    #[test]
    fn a_page_may_name_its_charset() {
        let page =
            b"<HTML><META http-equiv=\"Content-Type\" content=\"text/html; charset=ISO-8859-1\">\xe9";
        assert!(text_of(page, None, "text/html").ends_with('é'));
        assert!(text_of(page, None, "text/plain").ends_with('\u{fffd}'));
        assert!(text_of(page, Some("utf-8"), "text/html").ends_with('\u{fffd}'));
    }
}
