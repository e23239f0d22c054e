//! The body of a request, and what its head has to say of it.

use weir_charset::{Charset, decode_form};
use weir_plan::HttpRequest;

use super::SentRequest;
use super::fields::{Fields, push_encoded};
use crate::encode::push_form;
use crate::upload::{self, NamedFile};
use crate::{Scope, Text, Unsendable};

/// What a request has as its body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body<'a> {
    None,
    Raw,
    Form,
    Multipart,
    File(&'a NamedFile),
}

impl<'a> Body<'a> {
    pub(super) fn of(
        request: &HttpRequest<Text>,
        method: &str,
        fields: Fields<'_>,
        files: &'a [NamedFile],
    ) -> Self {
        let raw = is_raw(request, fields);
        let file = upload::whole_body(files);
        match (method, file) {
            ("GET", Some(file)) if fields.texts.is_empty() => Self::File(file),
            ("GET", _) if raw => Self::Raw,
            ("GET" | "HEAD" | "OPTIONS" | "TRACE", _) => Self::None,
            (_, None) if upload::are_parts(files) => Self::Multipart,
            _ if request.multipart => Self::Multipart,
            (_, Some(file)) if fields.texts.is_empty() => Self::File(file),
            _ if raw => Self::Raw,
            _ => Self::Form,
        }
    }

    /// Writes the body, and says what the head has to say of it.
    pub(super) fn write(
        self,
        request: &HttpRequest<Text>,
        fields: Fields<'_>,
        files: &[NamedFile],
        scope: &mut Scope,
        sent: &mut SentRequest,
    ) -> Result<Content, Unsendable> {
        let media_type = files.first().map(|file| file.media_type.as_str());
        let media_type = media_type.filter(|text| !text.is_empty());
        if matches!(self, Self::None) {
            return Ok(Content::None);
        }
        let charset = fields.charset();
        sent.charset = charset.map_err(|why| Unsendable::no_charset(why, fields.encoding))?;
        match self {
            Self::None => Ok(Content::None),
            Self::Raw => {
                write_raw_body(fields, sent.charset, &mut sent.body);
                Ok(match media_type {
                    Some(media_type) => Content::Own(Some(media_type.to_owned())),
                    None => Content::Usual("text/plain"),
                })
            }
            Self::Form => {
                write_form_body(fields, sent.charset, &mut sent.body)?;
                Ok(Content::Usual(FORM))
            }
            Self::File(file) => {
                sent.uploads.push(upload::file(file, scope)?);
                Ok(Content::Own(media_type.map(str::to_owned)))
            }
            Self::Multipart => {
                let parts = fields.iter().filter(|(_, (name, _))| !is_skipped(name));
                let charset = sent.charset;
                let written = upload::multipart(request, parts, files, charset, scope)?;
                sent.start = written.start;
                sent.uploads = written.uploads;
                Ok(Content::Parts(written.content_type))
            }
        }
    }
}

/// What the head says of the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// There is none.
    #[default]
    None,
    /// This type, unless the plan has one.
    Usual(&'static str),
    /// The type of a file, unless the plan has one; before the length.
    Own(Option<String>),
    /// This type, whatever the plan has.
    Parts(String),
}

const FORM: &str = "application/x-www-form-urlencoded";

/// The values are the body as they are: on demand, or when no argument has a name.
pub(super) fn is_raw(request: &HttpRequest<Text>, fields: Fields<'_>) -> bool {
    let texts = fields.texts;
    let nameless = texts.iter().all(|(name, _)| name.is_empty());
    request.raw_body || (!texts.is_empty() && nameless)
}

fn write_raw_body(fields: Fields<'_>, charset: Charset, body: &mut String) {
    for (argument, (_, value)) in fields.iter() {
        push_encoded(argument, value, charset, body);
    }
}

fn write_form_body(
    fields: Fields<'_>,
    charset: Charset,
    body: &mut String,
) -> Result<(), Unsendable> {
    for (argument, (name, value)) in fields.iter() {
        if is_skipped(name) {
            continue;
        }
        if !body.is_empty() {
            body.push('&');
        }
        for (text, separator) in [(name, "="), (value, "")] {
            if argument.always_encode {
                push_form(body, text, charset);
            } else {
                let decoded = decode_form(text, charset)
                    .map_err(|error| Unsendable::illegal_argument(error.to_string()))?;
                push_form(body, &decoded, charset);
            }
            body.push_str(separator);
        }
    }
    Ok(())
}

/// A form leaves out fields with a blank name, and those whose name is a variable without value.
fn is_skipped(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || (name.starts_with("${") && name.ends_with('}'))
}
