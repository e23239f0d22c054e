//! Texts as bytes: `StandardCharsets`, `Charset`, and the names of character sets as arguments.

use std::sync::Arc;

use weir_charset::Charset;

use super::text_of;
use crate::Value;
use crate::class::{Class, routine};
use crate::machine::Stop;

pub(super) const CLASSES: &[&Class] = &[&STANDARD, &CHARSET];

/// The character set that an argument names, if there is one; UTF-8 without it.
pub(super) fn charset_of(named: Option<&Value>) -> Result<Charset, Stop> {
    let Some(named) = named else {
        return Ok(Charset::UTF_8);
    };
    let name = text_of(named)?;
    let charset = Charset::named(&name)
        .map_err(|_| Stop::thrown("java.io.UnsupportedEncodingException", &*name))?;
    if charset.is_exact() {
        Ok(charset)
    } else {
        Err(Stop::unknown(format!("the character set {name}")))
    }
}

/// The bytes of a text in the character set that an argument names.
pub(super) fn encoded(text: &str, named: Option<&Value>) -> Result<Vec<u8>, Stop> {
    Ok(charset_of(named)?.encode(text).into_owned())
}

/// The text of bytes in the character set that an argument names.
pub(super) fn decoded(bytes: &[u8], named: Option<&Value>) -> Result<String, Stop> {
    Ok(charset_of(named)?.decode(bytes).into_owned())
}

/// Character sets are known by their names.
static STANDARD: Class = Class {
    constants: &[
        ("UTF_8", |_| Value::text("UTF-8")),
        ("US_ASCII", |_| Value::text("US-ASCII")),
        ("ISO_8859_1", |_| Value::text("ISO-8859-1")),
        ("UTF_16", |_| Value::text("UTF-16")),
        ("UTF_16BE", |_| Value::text("UTF-16BE")),
        ("UTF_16LE", |_| Value::text("UTF-16LE")),
    ],
    ..Class::named("java.nio.charset.StandardCharsets")
};

static CHARSET: Class = Class {
    statics: &[
        routine("forName", 1, |_, _, arguments| {
            Ok(Value::text(charset_of(arguments.first())?.name()))
        }),
        routine("defaultCharset", 0, |_, _, _| {
            Ok(Value::Text(Arc::from("UTF-8")))
        }),
    ],
    ..Class::named("java.nio.charset.Charset")
};
