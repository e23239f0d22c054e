//! The scripts and styles that a page holds, so that it works offline.

/// Everything that stands in a page beside its text and its data.
#[derive(Debug)]
pub(crate) struct Assets {
    pub(crate) uplot_script: &'static str,
    pub(crate) uplot_style: &'static str,
    pub(crate) uplot_licence: &'static str,
    pub(crate) style: &'static str,
    /// Makes tables sort.
    pub(crate) tables: &'static str,
    /// The page's own script.
    pub(crate) script: &'static str,
}

impl Assets {
    /// What every page holds, and its own script.
    pub(crate) const fn with_script(script: &'static str) -> Self {
        Self {
            uplot_script: include_str!("../assets/uplot/uPlot.iife.min.js"),
            uplot_style: include_str!("../assets/uplot/uPlot.min.css"),
            uplot_licence: include_str!("../assets/uplot/LICENSE"),
            style: include_str!("../assets/report.css"),
            tables: include_str!("../assets/tables.js"),
            script,
        }
    }
}
