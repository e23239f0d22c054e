//! What a request makes of a path that it is given: JMeter's `HTTPSamplerBase.setPath`.

use weir_charset::{Charset, DecodeError, decode_form};

use crate::host::ArgumentView;

/// The path, and the arguments that stood behind it. Only requests that have their arguments in the
/// query take them out of a path, and only where the path is no URL.
///
/// # Errors
///
/// An argument has a percent sign that begins no escape.
pub fn path_and_arguments(
    method: &str,
    path: &str,
) -> Result<(String, Vec<ArgumentView>), DecodeError> {
    let is_url = path.starts_with("http://") || path.starts_with("https://");
    let (path, query) = match path.split_once('?') {
        Some(parts) if !is_url && matches!(method, "GET" | "DELETE") => parts,
        _ => (path, ""),
    };
    let arguments = query.split('&').filter_map(|argument| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        (!name.is_empty()).then(|| {
            Ok(ArgumentView {
                equals: argument.contains('='),
                ..ArgumentView::added(decoded(name)?, decoded(value)?, true)
            })
        })
    });
    Ok((path.to_owned(), arguments.collect::<Result<_, _>>()?))
}

fn decoded(text: &str) -> Result<String, DecodeError> {
    decode_form(text, Charset::UTF_8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(method: &str, path: &str) -> (String, Vec<String>) {
        let (path, arguments) = path_and_arguments(method, path).expect("escapes are right");
        let arguments = arguments.iter().map(|of| {
            let equals = if of.equals { "=" } else { "" };
            format!("{}{equals}{}", of.name, of.value)
        });
        (path, arguments.collect())
    }

    /// Measured with JMeter 5.6.3.
    #[test]
    fn a_query_becomes_arguments_where_the_method_has_a_query() {
        let both = |path: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(|text| (*text).to_owned());
            (path.to_owned(), arguments.collect::<Vec<_>>())
        };
        assert_eq!(made("GET", "/a"), both("/a", &[]));
        assert_eq!(
            made("GET", "/a?x=1%202&&=3&y&z=&x==;s"),
            both("/a", &["x=1 2", "y", "z=", "x==;s"])
        );
        assert_eq!(made("DELETE", "/a?x"), both("/a", &["x"]));
        assert_eq!(made("POST", "/a?x=1"), both("/a?x=1", &[]));
        let url = "http://h/a?x=1";
        assert_eq!(made("GET", url), both(url, &[]));
        let error = path_and_arguments("GET", "/a?x=%zz").map_err(|error| error.to_string());
        assert!(error.is_err_and(|says| says.contains("\"zz\"")));
    }
}
