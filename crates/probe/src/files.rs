//! Where the files of `/proc` are read: on this machine, or on another one over ssh.
//!
//! Whoever reads a file names it and gets its text, wherever it lies; what the text means is the
//! same. On this machine a file is read when it is asked for. Of another one, what a reading needs
//! comes in one answer (see [`FarFiles`]).

use std::fs::File;

use crate::far_files::FarFiles;
use crate::kept_file::Scratch;
use crate::kernel_text::number;

/// The files of one machine.
#[derive(Debug)]
pub(crate) struct Files {
    scratch: Scratch,
    far: Option<FarFiles>,
}

impl Files {
    /// Those of this machine.
    pub(crate) fn here() -> Self {
        Self {
            scratch: Scratch::new(),
            far: None,
        }
    }

    /// Those of another machine.
    pub(crate) fn there(far: FarFiles) -> Self {
        Self {
            scratch: Scratch::new(),
            far: Some(far),
        }
    }

    /// Whether they are those of this machine.
    pub(crate) fn are_here(&self) -> bool {
        self.far.is_none()
    }

    /// Space for files of this machine.
    pub(crate) fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// The files of the other machine, if they are.
    pub(crate) fn far(&mut self) -> Option<&mut FarFiles> {
        self.far.as_mut()
    }

    /// The start of a file, which is kept open when it is one of this machine: for files that are
    /// one short line. Of another machine only what was [prepared](Self::prepare_threads).
    pub(crate) fn start(
        &mut self,
        path: impl Fn() -> String,
        open: &mut Option<File>,
    ) -> Option<&[u8]> {
        if let Some(far) = &mut self.far {
            return far.prepared(&path());
        }
        if open.is_none() {
            *open = File::open(path()).ok();
        }
        self.scratch.start(open.as_ref()?)
    }

    /// Tells that these files are going to be read, so that those of another machine come together.
    pub(crate) fn prepare(&mut self, paths: impl Iterator<Item = String>) {
        if let Some(far) = &mut self.far {
            far.prepare(paths);
        }
    }

    /// As `prepare`, for a file of every thread of these processes.
    pub(crate) fn prepare_threads(&mut self, pids: impl Iterator<Item = u32>, name: &str) {
        if let Some(far) = &mut self.far {
            far.prepare_each(pids.map(|pid| format!("/proc/{pid}/task")), name);
        }
    }

    /// The entries of a directory of `/proc` whose names are numbers.
    pub(crate) fn numbered(&mut self, directory: &str) -> Vec<u32> {
        match &mut self.far {
            Some(far) => far.numbered(directory),
            None => numbered(directory),
        }
    }
}

/// The entries of a directory of this machine's `/proc` whose names are numbers.
pub(crate) fn numbered(directory: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let id = number(entry.ok()?.file_name().as_encoded_bytes())?;
            u32::try_from(id).ok()
        })
        .collect()
}
