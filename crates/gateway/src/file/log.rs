//! What of requests is marked and written: `[log]`.

use http::header::HeaderName;
use weir_userfile::Section;

use crate::settings::LogSettings;

/// Rarer than that is nothing that one could look for.
const ONE_IN_MAX: u32 = 1_000_000;

pub(super) fn read(root: &Section<'_>) -> LogSettings {
    let mut log = LogSettings::default();
    let Some(section) = root.section("log", "[log]") else {
        return log;
    };
    if let Some(text) = section.text("request-id") {
        log.request_id = text.get_ref().parse::<HeaderName>().ok();
        if log.request_id.is_none() {
            section.problems().add_with_help(
                text.span(),
                format!("`{}` is no name of a header", text.get_ref()),
                "write the one that is to have the id: `request-id = \"X-Request-Id\"`",
            );
        }
    }
    log.trace_context = section.flag("trace-context").unwrap_or_default();
    if let Some(count) = section.whole("one-in", 1..=ONE_IN_MAX) {
        log.one_in = count.into_inner();
    }
    section.finish();
    log
}
