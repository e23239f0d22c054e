//! The live page of a gateway: a page without data of its own, whose script asks the gateway once a
//! second.

use askama::Template;

use crate::ReportError;
use crate::assets::Assets;

#[derive(Debug, Template)]
#[template(path = "gate.html")]
struct Page {
    assets: Assets,
}

/// The page; it asks `status` beside its own address, with the query that it was called with.
pub fn gate_html() -> Result<String, ReportError> {
    let page = Page {
        assets: Assets::live(include_str!("../assets/gate.js")),
    };
    Ok(page.render()?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn needs_nothing_but_itself_and_the_gateway() {
        let page = gate_html().unwrap();
        assert!(page.contains("uPlot"), "the charts' library is inside");
        for outside in ["src=\"http", "href=\"http", "url(http", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
