//! The lines of Prometheus's text format: `name{label="value",…} number [timestamp]`.
//!
//! After "Text-based format" of Prometheus's documentation on exposition formats. A line that is
//! not a sample (a comment, or one that is not understood) is passed over.

use std::borrow::Cow;

/// One sample of a page of metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'p> {
    /// The name of the metric.
    pub name: &'p str,
    labels: &'p str,
    /// What it was.
    pub value: f64,
}

impl<'p> Sample<'p> {
    /// The value of a label.
    pub fn label(&self, wanted: &str) -> Option<Cow<'p, str>> {
        let mut labels = self.labels;
        while let Some((name, value, rest)) = first_label(labels) {
            if name == wanted {
                return Some(unescaped(value));
            }
            labels = rest;
        }
        None
    }
}

/// The samples of a page of metrics, in order; what is none is passed over.
pub fn samples(page: &str) -> impl Iterator<Item = Sample<'_>> {
    page.lines().map(str::trim).filter_map(sample)
}

fn sample(line: &str) -> Option<Sample<'_>> {
    if line.starts_with('#') {
        return None;
    }
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    let rest = rest.trim_start();
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => {
            let end = labels_end(rest)?;
            (&rest[..end], &rest[end + 1..])
        }
        None => ("", rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some(Sample {
        name,
        labels,
        value,
    })
}

/// Where the closing brace stands: the first one outside of a value in quotes.
fn labels_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    text.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' => return !quoted,
            _ => {}
        }
        false
    })
}

/// Name, raw value and the rest behind the first label.
fn first_label(labels: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = labels.split_once('=')?;
    let value = rest.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    let end = value.bytes().position(|byte| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        _ => byte == b'"',
    })?;
    let name = name.trim_matches(|c: char| c == ',' || c.is_whitespace());
    Some((name, &value[..end], &value[end + 1..]))
}

/// A value with `\\`, `\"` and `\n` read as what they stand for.
fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = String::with_capacity(value.len());
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => plain.extend(rest.next().map(|c| if c == 'n' { '\n' } else { c })),
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(page: &str) -> Vec<(&str, Option<String>, f64)> {
        samples(page)
            .map(|sample| {
                (
                    sample.name,
                    sample.label("stage").map(Cow::into_owned),
                    sample.value,
                )
            })
            .collect()
    }

    #[test]
    fn the_forms_of_a_line() {
        let page = "# HELP x y\n\n\
            up 1\n\
            weir_stage_limit{stage=\"threads\"} 50\n\
            weir_stage_limit { method = \"a=\\\"}\\\\\" , stage = \"pool.\\\"x\\\"\\n\" , } 1.5e3 1700000000000\n\
            weir_stage_limit{stage=\"backlog\",} +Inf\n";
        let expected = [
            ("up", None, 1.0),
            ("weir_stage_limit", Some("threads".to_owned()), 50.0),
            ("weir_stage_limit", Some("pool.\"x\"\n".to_owned()), 1500.0),
            (
                "weir_stage_limit",
                Some("backlog".to_owned()),
                f64::INFINITY,
            ),
        ];
        assert_eq!(read(page), expected);
    }

    #[test]
    fn lines_that_are_no_samples_are_passed_over() {
        for line in [
            "x",
            "x{",
            "x{a=\"b\"",
            "x{a=\"b\"}",
            "x{} y",
            "{a=\"b\"} 1",
            "# x 1",
        ] {
            assert_eq!(read(line), [], "{line}");
        }
        assert_eq!(read("x{stage} 1"), [("x", None, 1.0)]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(page in ".*|[a-z{}\"\\\\=, 1\n]*") {
            let _ = read(&page);
        }

        #[test]
        fn a_label_is_read_back_whatever_it_holds(value: String) {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            // A lone carriage return ends a line for some readers, never inside Weir's names.
            prop_assume!(!value.contains('\r'));
            let page = format!("x{{other=\"1\",stage=\"{escaped}\"}} 2");
            prop_assert_eq!(read(&page), [("x", Some(value), 2.0)]);
        }
    }
}
