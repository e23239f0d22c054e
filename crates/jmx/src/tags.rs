//! Looks at the tags of a text before it is parsed as XML: the XML library compares each attribute
//! of an element with each other, which for 100,000 of them takes minutes.

/// Most attributes of an element; JMeter writes five.
pub(crate) const ATTRIBUTES_MAX: usize = 500;

/// Where the first tag starts that has more attributes than it may.
///
/// What is no XML is left to the parser.
pub(crate) fn first_overfull(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let start = at + text.get(at..)?.find('<')?;
        let rest = &text[start..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            at = start + rest.find(end)? + end.len();
            continue;
        }
        let (attributes, length) = count(rest.as_bytes());
        if attributes > ATTRIBUTES_MAX {
            return Some(start);
        }
        at = start + length;
    }
}

/// The attributes of a tag, and its length; of a tag that does not end, the length of what is
/// there.
fn count(tag: &[u8]) -> (usize, usize) {
    let mut quote = None;
    let mut attributes = 0;
    for (at, byte) in tag.iter().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'>') => return (attributes, at + 1),
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                attributes += 1;
            }
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    (attributes, tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_by_tag() {
        let many = " a='>' b=\"<x\"".repeat(300);
        let tag = format!("<x{many}/>");
        assert_eq!(first_overfull(&tag), Some(0));
        assert_eq!(first_overfull(&format!("<a b='c'>é{tag}")), Some(11));
        for allowed in [
            format!("<!-- {tag} --><a/>"),
            format!("<?x {tag} ?><a/>"),
            format!("<![CDATA[{tag}]]>"),
            "<a b='c' d=\"e\">f='g'</a>".repeat(1_000),
            "<".to_owned(),
            "<!--".to_owned(),
            String::new(),
            "<a b='".to_owned(),
        ] {
            assert_eq!(first_overfull(&allowed), None);
        }
    }
}
