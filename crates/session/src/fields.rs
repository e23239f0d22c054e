//! Header fields as pairs.

/// Name and value of a header field.
pub type Field<'a> = (&'a str, &'a str);

/// The last field of a name, in any case.
pub(crate) fn last<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a str> {
    let found = fields
        .iter()
        .rev()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value)
}
