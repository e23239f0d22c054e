//! The arguments of a request: its fields, rendered, and how they are encoded.

use weir_charset::{Charset, NoCharset};
use weir_plan::Argument;

use crate::encode::push_text;
use crate::{Scope, Text};

/// The arguments, and the character set in which they go out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) arguments: &'a [Argument<Text>],
    /// Their rendered names and values.
    pub(super) texts: &'a [(String, String)],
    /// The name of the character set; empty for the usual one.
    pub(super) encoding: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a Argument<Text>, &'a (String, String))> {
        self.arguments.iter().zip(self.texts)
    }

    pub(super) fn charset(self) -> Result<Charset, NoCharset> {
        match self.encoding {
            "" => Ok(Charset::UTF_8),
            name => Charset::named(name),
        }
    }

    /// That of a query: the usual one also where the name is blank.
    pub(super) fn charset_of_query(self) -> Result<Charset, NoCharset> {
        match self.encoding.trim() {
            "" => Ok(Charset::UTF_8),
            _ => self.charset(),
        }
    }
}

/// Renders names, and the values of those that have one by their name.
pub(super) fn render_arguments(
    arguments: &[Argument<Text>],
    scope: &mut Scope,
    fields: &mut Vec<(String, String)>,
    has_value: impl Fn(&str) -> bool,
) {
    fields.resize_with(arguments.len(), Default::default);
    for (argument, (name, value)) in arguments.iter().zip(fields) {
        name.clear();
        value.clear();
        argument.name.render(scope, name);
        if has_value(name) {
            argument.value.render(scope, value);
        }
    }
}

/// Names are UTF-8 whatever the character set, and what cannot be encoded is left out.
pub(super) fn push_query(fields: Fields<'_>, mut after_first: bool, out: &mut String) {
    for (argument, (name, value)) in fields.iter() {
        if name.is_empty() {
            continue;
        }
        out.push(if after_first { '&' } else { '?' });
        after_first = true;
        push_encoded(argument, name, Charset::UTF_8, out);
        if argument.use_equals {
            out.push('=');
        }
        match fields.charset_of_query() {
            Ok(charset) => push_encoded(argument, value, charset, out),
            Err(_) if argument.always_encode => {}
            Err(_) => out.push_str(value),
        }
    }
}

pub(super) fn push_encoded(
    argument: &Argument<Text>,
    text: &str,
    charset: Charset,
    out: &mut String,
) {
    if argument.always_encode {
        push_text(out, text, charset);
    } else {
        out.push_str(text);
    }
}
