//! Another user who plants links, pipes and journals where Weir as root reads, writes and obeys.
//!
//! Tests that need root say so and do nothing as somebody else.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use weir_server::{
    ConfigurationChange, Journal, JournalError, Leftover, LiveSetting, restore_abandoned,
};

/// The other user.
const OTHER: u32 = 65_534;

/// A server's folder of the other user, beside what only root may write.
struct Place {
    directory: TempDir,
}

impl Place {
    /// `None` where the tests do not run as root.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: another user can be played by root only");
            return None;
        }
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        mode(place.directory.path(), 0o755);
        for folder in ["server", "server/conf", "roots"] {
            fs::create_dir(place.path(folder)).unwrap();
        }
        fs::write(place.conf(), "before").unwrap();
        mode(&place.conf(), 0o640);
        for name in ["server", "server/conf", "server/conf/server.xml"] {
            chown(place.path(name), Some(OTHER), Some(OTHER)).unwrap();
        }
        fs::write(place.victim(), "root's own").unwrap();
        mode(&place.victim(), 0o600);
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn conf(&self) -> PathBuf {
        self.path("server/conf/server.xml")
    }

    fn state(&self) -> PathBuf {
        self.path("roots/state")
    }

    fn victim(&self) -> PathBuf {
        self.path("roots/shadow")
    }

    /// What the other user does in a shell.
    fn attacks(&self, script: &str) {
        let status = Command::new("/bin/sh")
            .args(["-ec", script])
            .current_dir(self.path("server"))
            .env("VICTIM", self.victim())
            .uid(OTHER)
            .gid(OTHER)
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }

    #[track_caller]
    fn assert_victim_unharmed(&self) {
        let facts = fs::symlink_metadata(self.victim()).unwrap();
        assert_eq!(fs::read_to_string(self.victim()).unwrap(), "root's own");
        assert_eq!((facts.uid(), facts.mode() & 0o7777), (0, 0o600));
        let roots: Vec<_> = fs::read_dir(self.path("roots"))
            .unwrap()
            .flatten()
            .collect();
        let known = ["shadow", "state"];
        assert!(
            roots
                .iter()
                .all(|entry| known.contains(&entry.file_name().to_str().unwrap())),
            "{roots:?}"
        );
    }

    /// A journal of a Weir that is gone, with a command that would leave a mark.
    fn abandoned_journal(&self) -> PathBuf {
        let journal = self.state().join("journal-1-1-0");
        fs::create_dir_all(&journal).unwrap();
        let mark = self.path("mark");
        let argv = format!(r#"["touch","{}"]"#, mark.display());
        let lines = format!(
            "{}\n{}\n",
            r#"{"schema":"weir/journal/1","weir":"0","owner":{"pid":1,"start":1}}"#,
            format_args!(r#"{{"live":{{"command":{{"what":"threads","argv":{argv}}}}}}}"#)
        );
        fs::write(journal.join("entries.jsonl"), lines).unwrap();
        mode(&self.state(), 0o755);
        mode(&journal, 0o755);
        mode(&journal.join("entries.jsonl"), 0o644);
        journal
    }

    /// Nothing of the state directory is obeyed, and it is said why.
    #[track_caller]
    fn assert_refused(&self, wanted: &[&str]) {
        let error = restore_abandoned(&self.state(), Leftover::Keep).unwrap_err();
        assert!(matches!(error, JournalError::Foreign(_)), "{error}");
        let says = error.to_string();
        for word in wanted.iter().chain(&["weir target restore", "WEIR_STATE"]) {
            assert!(says.contains(word), "{word}: {says}");
        }
        assert!(!self.path("mark").exists());
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn owner(path: &Path) -> (u32, u32) {
    let facts = fs::symlink_metadata(path).unwrap();
    (facts.uid(), facts.mode() & 0o7777)
}

fn change(file: &Path) -> ConfigurationChange {
    ConfigurationChange {
        file: file.to_owned(),
        of_user: true,
        before: Some("before".to_owned()),
        after: "after".to_owned(),
    }
}

#[test]
fn a_link_at_the_name_of_a_half_written_file_is_not_followed() {
    let Some(place) = Place::new() else { return };
    place.attacks("ln -s $VICTIM conf/.server.xml.weir-new");
    let journal = Journal::new(place.state());
    journal.write(&place.conf(), b"weir's").unwrap();
    place.assert_victim_unharmed();
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "weir's");
    assert_eq!(journal.put_back().failed, Vec::<String>::new());
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "before");
    assert_eq!(owner(&place.conf()), (OTHER, 0o640));
    place.assert_victim_unharmed();
    change(&place.conf()).write().unwrap();
    place.assert_victim_unharmed();
}

#[test]
fn a_link_at_the_name_of_the_old_text_is_not_followed() {
    let Some(place) = Place::new() else { return };
    // One leads to nothing yet, one to a file.
    place.attacks(
        "ln -s ${VICTIM}-new conf/server.xml.before-weir
         ln -s $VICTIM conf/server.xml.before-weir.2",
    );
    let backup = change(&place.conf()).write().unwrap().unwrap();
    place.assert_victim_unharmed();
    assert_eq!(backup, place.path("server/conf/server.xml.before-weir.3"));
    assert_eq!(fs::read_to_string(&backup).unwrap(), "before");
    assert_eq!(owner(&backup), (OTHER, 0o640));
    assert_eq!(owner(&place.conf()), (OTHER, 0o640));
}

#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let Some(place) = Place::new() else { return };
    fs::write(place.path("roots/server.xml"), "weir's").unwrap();
    let journal = Journal::new(place.state());
    journal.write(&place.conf(), b"weir's").unwrap();
    place.attacks("mv conf away; ln -s ../roots conf");
    let failed = journal.put_back().failed.join("\n");
    assert!(failed.contains("server/conf is a link"), "{failed}");
    assert_eq!(
        fs::read_to_string(place.path("roots/server.xml")).unwrap(),
        "weir's"
    );
    // What could not be put back is put back once it can.
    place.attacks("rm conf; mv away conf");
    let restored = restore_abandoned(&place.state(), Leftover::Keep).unwrap();
    assert_eq!(restored.failed, Vec::<String>::new());
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "before");
}

#[test]
fn a_file_that_becomes_a_link_or_a_pipe_is_not_followed() {
    let Some(place) = Place::new() else { return };
    for planted in ["ln -s $VICTIM conf/server.xml", "mkfifo conf/server.xml"] {
        let journal = Journal::new(place.state());
        journal.write(&place.conf(), b"weir's").unwrap();
        place.attacks(&format!("rm conf/server.xml; {planted}"));
        assert_eq!(journal.put_back().failed.len(), 1, "{planted}");
        place.assert_victim_unharmed();
        assert!(change(&place.conf()).write().is_err(), "{planted}");
        place.assert_victim_unharmed();
        place.attacks("rm conf/server.xml; printf weir\\'s > conf/server.xml");
        let restored = restore_abandoned(&place.state(), Leftover::Keep).unwrap();
        assert_eq!(restored.failed, Vec::<String>::new(), "{planted}");
    }
}

#[test]
fn a_pipe_or_a_foreign_link_is_not_kept_in_the_first_place() {
    let Some(place) = Place::new() else { return };
    for planted in ["ln -s $VICTIM conf/server.xml", "mkfifo conf/server.xml"] {
        place.attacks(&format!("rm conf/server.xml; {planted}"));
        let journal = Journal::new(place.state());
        assert!(journal.write(&place.conf(), b"x").is_err(), "{planted}");
        place.assert_victim_unharmed();
    }
}

#[test]
fn a_second_name_of_a_closed_file_shows_it_to_nobody() {
    let Some(place) = Place::new() else { return };
    // As somebody could where the kernel does not protect hard links.
    fs::remove_file(place.conf()).unwrap();
    fs::hard_link(place.victim(), place.conf()).unwrap();
    let change = ConfigurationChange {
        before: Some("root's own".to_owned()),
        ..change(&place.conf())
    };
    let backup = change.write().unwrap().unwrap();
    assert_eq!(owner(&backup), (0, 0o600));
    assert_eq!(owner(&place.conf()), (0, 0o600));
    place.assert_victim_unharmed();
    let journal = Journal::new(place.state());
    journal.file(&place.conf()).unwrap();
    let name = fs::read_dir(place.state())
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    assert_eq!(owner(&name.path()), (0, 0o700));
    assert_eq!(owner(&name.path().join("0.before")), (0, 0o600));
    drop(journal);
}

#[test]
fn what_is_put_back_is_its_owners_whoever_put_a_file_there() {
    let Some(place) = Place::new() else { return };
    lchown(place.conf(), Some(1234), Some(1234)).unwrap();
    mode(&place.conf(), 0o600);
    let journal = Journal::new(place.state());
    journal.write(&place.conf(), b"weir's").unwrap();
    place.attacks("rm -f conf/server.xml; echo mine > conf/server.xml");
    assert_eq!(journal.put_back().failed, Vec::<String>::new());
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "before");
    assert_eq!(owner(&place.conf()), (1234, 0o600));
    let kept = fs::read_dir(place.state().join("kept")).unwrap();
    for kept in kept.flatten() {
        assert_eq!(owner(&kept.path()), (0, 0o600));
    }
}

#[test]
fn another_programs_rights_are_not_lent_to_new_bytes() {
    let Some(place) = Place::new() else { return };
    chown(place.conf(), Some(0), Some(0)).unwrap();
    mode(&place.conf(), 0o6755);
    let journal = Journal::new(place.state());
    journal.write(&place.conf(), b"weir's").unwrap();
    assert_eq!(owner(&place.conf()), (0, 0o755));
    assert_eq!(journal.put_back().failed, Vec::<String>::new());
    assert_eq!(owner(&place.conf()), (0, 0o6755));
    let backup = change(&place.conf()).write().unwrap().unwrap();
    assert_eq!(owner(&backup), (0, 0o755));
    assert_eq!(owner(&place.conf()), (0, 0o755));
}

#[test]
fn links_of_a_user_to_own_files_are_followed() {
    let Some(place) = Place::new() else { return };
    place.attacks("mkdir enabled; ln -s ../conf/server.xml enabled/server.xml");
    let link = place.path("server/enabled/server.xml");
    let journal = Journal::new(place.state());
    journal.write(&link, b"weir's").unwrap();
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "weir's");
    assert_eq!(journal.put_back().failed, Vec::<String>::new());
    change(&link).write().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(place.conf()).unwrap(), "after");
    assert_eq!(owner(&place.conf()), (OTHER, 0o640));
}

#[test]
fn a_made_directory_that_becomes_another_is_not_removed() {
    let Some(place) = Place::new() else { return };
    let journal = Journal::new(place.state());
    journal.directory(&place.path("server/made")).unwrap();
    fs::create_dir(place.path("roots/made")).unwrap();
    place.attacks("mv made away; ln -s ../roots/made made");
    assert_eq!(journal.put_back().failed.len(), 1);
    assert!(place.path("roots/made").exists());
    // A pipe in the place of the mark holds nobody up.
    place.attacks("rm made");
    fs::create_dir(place.path("server/made")).unwrap();
    chown(place.path("server/made"), Some(OTHER), None).unwrap();
    place.attacks("mkfifo made/.weir-made");
    let restored = restore_abandoned(&place.state(), Leftover::Keep).unwrap();
    assert_eq!(restored.failed.len(), 1);
}

#[test]
fn a_journal_of_another_user_is_not_obeyed() {
    let Some(place) = Place::new() else { return };
    let journal = place.abandoned_journal();
    chown(&journal, Some(OTHER), None).unwrap();
    place.assert_refused(&["journal-1-1-0: it belongs to user 65534"]);
    chown(&journal, Some(0), None).unwrap();
    chown(journal.join("entries.jsonl"), Some(OTHER), None).unwrap();
    place.assert_refused(&["entries.jsonl: it belongs to user 65534"]);
    chown(journal.join("entries.jsonl"), Some(0), None).unwrap();
    chown(place.state(), Some(OTHER), None).unwrap();
    place.assert_refused(&["state: it belongs to user 65534"]);
    let new = Journal::new(place.state());
    assert!(matches!(
        new.file(&place.conf()),
        Err(JournalError::Foreign(_))
    ));
}

#[test]
fn a_journal_that_others_may_write_is_not_obeyed() {
    let Some(place) = Place::new() else { return };
    let journal = place.abandoned_journal();
    let entries = journal.join("entries.jsonl");
    for (path, loose, closed) in [
        (&entries, 0o664, 0o644),
        (&entries, 0o646, 0o644),
        (&journal, 0o775, 0o755),
        (&place.state(), 0o757, 0o755),
        (&place.state(), 0o1777, 0o755),
    ] {
        mode(path, loose);
        place.assert_refused(&["others may write it", &format!("{loose:04o}")]);
        mode(path, closed);
    }
    // As earlier ones were made, it is obeyed.
    let restored = restore_abandoned(&place.state(), Leftover::Keep).unwrap();
    assert_eq!(restored.failed, Vec::<String>::new());
    assert!(place.path("mark").exists());
}

#[test]
fn a_journal_that_is_a_link_is_not_obeyed() {
    let Some(place) = Place::new() else { return };
    let journal = place.abandoned_journal();
    let away = place.path("server/away");
    fs::rename(&journal, &away).unwrap();
    symlink(&away, &journal).unwrap();
    place.assert_refused(&["journal-1-1-0: it is a link"]);
    fs::remove_file(&journal).unwrap();
    fs::rename(&away, &journal).unwrap();
    let state = place.path("server/state");
    fs::rename(place.state(), &state).unwrap();
    symlink(&state, place.state()).unwrap();
    place.assert_refused(&["state: it is a link"]);
}

#[test]
fn the_journals_own_files_are_closed_to_others() {
    let Some(place) = Place::new() else { return };
    let journal = Journal::new(place.state());
    let argv = vec!["true".to_owned()];
    let what = "threads".to_owned();
    journal.live(LiveSetting::Command { what, argv }).unwrap();
    assert_eq!(owner(&place.state()), (0, 0o700));
    let made = fs::read_dir(place.state())
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    assert_eq!(owner(&made.path()), (0, 0o700));
    assert_eq!(owner(&made.path().join("entries.jsonl")), (0, 0o600));
    assert_eq!(journal.put_back().failed, Vec::<String>::new());
}
