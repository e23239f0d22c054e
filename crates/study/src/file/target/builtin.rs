//! `[target.builtin]`: the sample server that comes with Weir.

use weir_record::WhenFull;
use weir_userfile::Section;

/// Options of the sample server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuiltinSpec {
    /// What happens to a connection above the limit; `None`: the server's default (it waits).
    pub when_full: Option<WhenFull>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

pub(super) fn read(section: &Section<'_>) -> BuiltinSpec {
    BuiltinSpec {
        when_full: read_when_full(section),
        port: section.port(),
    }
}

fn read_when_full(section: &Section<'_>) -> Option<WhenFull> {
    let text = section.text("when-full")?;
    match text.get_ref().as_str() {
        "close" => Some(WhenFull::Refuse),
        "wait" => Some(WhenFull::Wait),
        other => {
            section.problems().add_with_help(
                text.span(),
                format!("`{other}` is nothing a full server does"),
                "write \"close\" (a connection above the limit is closed at once) or \"wait\" \
                 (it waits in the backlog)",
            );
            None
        }
    }
}
