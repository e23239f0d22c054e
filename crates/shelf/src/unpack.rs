//! Archives, unpacked.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::ShelfError;

/// Unpacks an archive into a directory that is not there yet. `progress` hears how many of its
/// files are done, and of how many. A directory that holds all of them is left out.
///
/// # Errors
/// The archive is broken, has a file that would lie elsewhere or a link; or the disk is full.
pub(crate) fn unpack(
    archive: &Path,
    home: &Path,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ShelfError> {
    let broken = |says: String| ShelfError::Archive {
        path: archive.to_owned(),
        says,
    };
    let file = File::open(archive).map_err(ShelfError::file("open", archive))?;
    let mut zip = ZipArchive::new(file).map_err(|error| broken(error.to_string()))?;
    let top = top_directory(&zip);
    for index in 0..zip.len() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(ShelfError::Interrupted);
        }
        progress(index + 1, zip.len());
        let mut entry = zip
            .by_index(index)
            .map_err(|error| broken(error.to_string()))?;
        let name = entry.name().map_err(|error| broken(error.to_string()))?;
        let Some(path) = entry.enclosed_name() else {
            return Err(broken(format!("`{name}` lies outside of it")));
        };
        if entry.is_symlink() {
            return Err(broken(format!("`{name}` is a link")));
        }
        drop(name);
        let path = match &top {
            Some(top) => path.strip_prefix(top).unwrap_or(&path).to_owned(),
            None => path,
        };
        write_entry(&mut entry, &home.join(path))?;
    }
    Ok(())
}

/// The one directory in which everything lies.
fn top_directory(zip: &ZipArchive<File>) -> Option<PathBuf> {
    let mut tops = zip.file_names().map(|name| {
        let name = name.ok()?;
        name.split_once('/').map(|(top, _)| top.to_owned())
    });
    let first = tops.next()??;
    tops.all(|top| top.as_ref() == Some(&first))
        .then(|| PathBuf::from(first))
}

fn write_entry(entry: &mut ZipFile<'_, File>, path: &Path) -> Result<(), ShelfError> {
    let directory = if entry.is_dir() {
        Some(path)
    } else {
        path.parent()
    };
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(ShelfError::file("make", directory))?;
    }
    if entry.is_dir() {
        return Ok(());
    }
    let mut file = File::create(path).map_err(ShelfError::file("write", path))?;
    io::copy(entry, &mut file).map_err(ShelfError::file("write", path))?;
    // Programs stay programs; who else may read is the user's umask's business.
    if entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0) {
        let mode = fs::metadata(path)
            .map_err(ShelfError::file("look at", path))?
            .permissions()
            .mode();
        let readers = (mode & 0o444) >> 2;
        fs::set_permissions(path, Permissions::from_mode(mode | readers))
            .map_err(ShelfError::file("change", path))?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(place: &Path, entries: &[(&str, u32)]) -> PathBuf {
        let path = place.join("a.zip");
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        for (name, mode) in entries {
            let options = SimpleFileOptions::default().unix_permissions(*mode);
            zip.start_file(*name, options).unwrap();
            zip.write_all(name.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    fn unpacked(entries: &[(&str, u32)]) -> (tempfile::TempDir, Result<(), ShelfError>) {
        let place = tempfile::tempdir().unwrap();
        let archive = archive(place.path(), entries);
        let home = place.path().join("home");
        let never = AtomicBool::new(false);
        let result = unpack(&archive, &home, &never, &mut |_, _| {});
        (place, result)
    }

    #[test]
    fn the_directory_that_holds_all_is_left_out_and_programs_stay_programs() {
        let (place, result) = unpacked(&[("wlp/bin/server", 0o755), ("wlp/README", 0o640)]);
        result.unwrap();
        let mode = |name: &str| {
            let path = place.path().join("home").join(name);
            fs::metadata(path).unwrap().permissions().mode()
        };
        assert_ne!(mode("bin/server") & 0o100, 0);
        assert_eq!(mode("README") & 0o111, 0);
    }

    #[test]
    fn files_in_several_directories_keep_them() {
        let (place, result) = unpacked(&[("a/x", 0o644), ("b/x", 0o644), ("c", 0o644)]);
        result.unwrap();
        let text = fs::read_to_string(place.path().join("home/b/x")).unwrap();
        assert_eq!(text, "b/x");
    }

    #[test]
    fn nothing_is_written_outside() {
        let (place, result) = unpacked(&[("../outside", 0o644), ("x", 0o644)]);
        let says = result.unwrap_err().to_string();
        assert!(says.contains("../outside"), "{says}");
        assert!(!place.path().join("outside").exists());
    }

    #[test]
    fn an_interrupt_stops_it() {
        let place = tempfile::tempdir().unwrap();
        let archive = archive(place.path(), &[("x", 0o644)]);
        let now = AtomicBool::new(true);
        let result = unpack(&archive, &place.path().join("home"), &now, &mut |_, _| {});
        assert!(matches!(result, Err(ShelfError::Interrupted)));
    }
}
