//! The scripts and styles that a page holds, so that it works offline, and what the page may do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const UPLOT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
/// How Weir's pages look.
pub(crate) const STYLE: &str = include_str!("../assets/report.css");
/// Makes tables sort.
const TABLES: &str = include_str!("../assets/tables.js");

/// Everything that stands in a page beside its text and its data.
#[derive(Debug)]
pub(crate) struct Assets {
    pub(crate) uplot_style: &'static str,
    pub(crate) style: &'static str,
    /// The library that draws, with its licence.
    pub(crate) library: String,
    /// The page's own script.
    pub(crate) script: String,
    /// Whether the page asks whoever served it for figures.
    asks: bool,
}

impl Assets {
    /// Of a page with its data in it.
    pub(crate) fn with_script(script: &str) -> Self {
        Self {
            uplot_style: include_str!("../assets/uplot/uPlot.min.css"),
            style: STYLE,
            library: format!("\n/*\n{UPLOT_LICENCE}\n*/\n{UPLOT}\n"),
            script: format!("\n{script}\n{TABLES}\n"),
            asks: false,
        }
    }

    /// Of a page that asks for its data again and again.
    pub(crate) fn live(script: &str) -> Self {
        Self {
            script: format!("\n{script}\n"),
            asks: true,
            ..Self::with_script("")
        }
    }

    /// What the page may do (Content Security Policy): run these two scripts, and load nothing.
    /// Whatever else a label or a server's answer brings into it does not run.
    pub(crate) fn policy(&self) -> String {
        let hashes = [&self.library, &self.script].map(|script| {
            let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
            format!("'sha256-{hash}'")
        });
        let asks = if self.asks {
            "; connect-src 'self'"
        } else {
            ""
        };
        format!("{NOTHING_LOADED}; script-src {}{asks}", hashes.join(" "))
    }
}

/// What a page without scripts may do: its own styles, and nothing from elsewhere.
pub(crate) const NOTHING_LOADED: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_run_its_two_scripts_and_ask_nobody() {
        let page = Assets::with_script("draw();");
        let policy = page.policy();
        assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
        assert!(!policy.contains("script-src 'unsafe-inline'") && !policy.contains("connect-src"));
        let other = Assets::with_script("draw( );").policy();
        assert_ne!(policy, other, "a changed script has another hash");
        assert!(Assets::live("").policy().ends_with("; connect-src 'self'"));
    }
}
