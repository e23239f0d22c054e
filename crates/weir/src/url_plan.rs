//! The plan of a study over one URL: users that ask for it again and again, without thinking.
//!
//! It is written as a JMeter plan, so that a run keeps it beside its figures, `--resume` finds it,
//! and a JMeter can run it too.

use crate::error::ExpectedError;

/// The property that the number of users sets.
pub(crate) const USERS: &str = "USERS";

const PLAN: &str = include_str!("url_plan.jmx");

/// The plan for a URL of which only the path counts: host and port are the target's.
pub(crate) fn text(url: &str) -> Result<String, ExpectedError> {
    let path = if url.starts_with('/') {
        url.to_owned()
    } else {
        let parsed = url::Url::parse(url).ok().filter(url::Url::has_host);
        let Some(parsed) = parsed else {
            return Err(ExpectedError::Input(format!(
                "[load] url: `{url}` is neither a path such as `/` nor a URL such as `http://host:8080/`"
            )));
        };
        parsed[url::Position::BeforePath..url::Position::AfterQuery].to_owned()
    };
    // A plan reads `${` as the beginning of a variable.
    let path = path.replace('\\', "\\\\").replace("${", "\\${");
    Ok(PLAN.replace("THE_PATH", &escaped(&path)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_come_from_the_url() {
        for (url, path) in [
            ("/", "/"),
            ("/a?b=1&c=<2>", "/a?b=1&amp;c=&lt;2&gt;"),
            ("http://127.0.0.1:8080/x?y=1#z", "/x?y=1"),
            ("http://host", "/"),
        ] {
            let text = text(url).unwrap();
            assert!(
                text.contains(&format!("HTTPSampler.path\">{path}</stringProp>")),
                "{url}: {text}"
            );
            let plan = crate::plans::read_text(&text, std::path::Path::new("url.jmx")).unwrap();
            assert_eq!(plan.groups.len(), 1);
        }
        let error = text("here").unwrap_err();
        assert!(matches!(error, ExpectedError::Input(says) if says.contains("`here`")));
    }
}
