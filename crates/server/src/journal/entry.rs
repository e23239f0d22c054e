//! The lines of a journal.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::files::KeptFile;
use super::live::LiveSetting;
use super::process::ProcessIdentity;

/// The form of the lines.
pub(super) const SCHEMA: &str = "weir/journal/1";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) schema: String,
    pub(super) weir: String,
    pub(super) owner: Owner,
}

/// The Weir that writes the journal, for people: that it runs is told by the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) pid: u32,
    pub(super) start: u64,
}

/// A change, as it is undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Entry {
    /// A file as it was.
    File(KeptFile),
    /// The digest of bytes that Weir wrote into it.
    Wrote { path: PathBuf, sha256: String },
    /// A directory that was not there.
    Directory { path: PathBuf },
    /// A process that was started.
    Process(ProcessIdentity),
    /// A setting of a running server.
    Live(LiveSetting),
    /// It needs no putting back any more: it is as it was, or its process has ended.
    Undone(LiveSetting),
}

/// The settings of running servers that are still to be put back.
pub(super) fn still_live(entries: &[Entry]) -> impl Iterator<Item = &LiveSetting> {
    entries.iter().enumerate().filter_map(|(at, entry)| {
        let Entry::Live(setting) = entry else {
            return None;
        };
        let is_undone = entries[at..]
            .iter()
            .any(|later| matches!(later, Entry::Undone(undone) if undone.is_same_setting(setting)));
        (!is_undone).then_some(setting)
    })
}

impl Entry {
    /// What undoing it does, for people; `None` for what is only known.
    pub(super) fn undoing(&self) -> Option<String> {
        match self {
            Self::Wrote { .. } | Self::Undone(_) => None,
            Self::File(kept) => Some(format!("put {} back", kept.path.display())),
            Self::Directory { path } => Some(format!("remove {}", path.display())),
            Self::Process(process) => Some(format!("end process {}", process.pid)),
            Self::Live(setting) => Some(setting.says()),
        }
    }
}

impl Owner {
    pub(super) fn of_this_process() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start: ProcessIdentity::of(pid, "").map_or(0, |process| process.start),
        }
    }
}

impl Header {
    pub(super) fn of(owner: Owner) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            weir: env!("CARGO_PKG_VERSION").to_owned(),
            owner,
        }
    }
}

pub(super) fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("plain data serialises");
    line.push('\n');
    line
}

/// The entries of a journal, and why those after them are not known. A last line that was cut off
/// stands for a change that was not made yet.
pub(super) fn read(text: &str) -> Result<(Header, Vec<Entry>), String> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    let first = lines.next().unwrap_or_default();
    let header: Header = serde_json::from_str(first).map_err(|error| error.to_string())?;
    if header.schema != SCHEMA {
        return Err(format!(
            "it is written in the form `{}` by Weir {}, which has to restore it",
            header.schema, header.weir
        ));
    }
    // Not the line itself: it may hold what nobody may see.
    let entries = lines
        .zip(2..)
        .map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| format!("{error} (line {number})"))
        })
        .collect::<Result<_, _>>()?;
    Ok((header, entries))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_is_no_entry() {
        let entry = Entry::Directory {
            path: PathBuf::from("/a b"),
        };
        let header = Header::of(Owner { pid: 1, start: 2 });
        let text = line(&header) + &line(&entry) + r#"{"directory":{"path":"/c"#;
        assert_eq!(read(&text).unwrap(), (header, vec![entry]));
        assert!(read("").is_err());
        let secret = line(&Header::of(Owner { pid: 1, start: 2 })) + "{\"live\":p455word}\n";
        let says = read(&secret).unwrap_err();
        assert!(
            says.contains("line 2)") && !says.contains("p455word"),
            "{says}"
        );
        let later = r#"{"schema":"weir/journal/9","weir":"9.0.0","owner":{"pid":1,"start":2}}"#;
        let says = read(&format!("{later}\n")).unwrap_err();
        assert!(says.contains("Weir 9.0.0"), "{says}");
    }
}
