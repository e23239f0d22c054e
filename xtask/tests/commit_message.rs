//! The hook that looks at commit messages.
#![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

use std::path::Path;
use std::process::Command;

/// What the hook says of a message; `None` where it lets it pass.
fn refused(message: &str) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("COMMIT_EDITMSG");
    std::fs::write(&file, message).unwrap();
    let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.githooks/commit-msg");
    let done = Command::new(hook).arg(&file).output().unwrap();
    let says = String::from_utf8(done.stderr).unwrap();
    (!done.status.success()).then_some(says)
}

#[test]
fn messages_have_a_short_subject_and_a_body() {
    let good = "Say why\n\nBecause it is asked for.\n\n# Please enter the message\n";
    assert_eq!(refused(good), None);
    let sixty = "é".repeat(60);
    assert_eq!(refused(&format!("{sixty}\n\nBody.\n")), None, "characters");
    assert_eq!(refused("Merge branch 'other'\n"), None);
    for (message, says) in [
        (format!("{sixty}.\n\nBody.\n"), "61 characters"),
        ("Say why\n".to_owned(), "body is missing"),
        (
            "Say why\n\n# only a comment\n".to_owned(),
            "body is missing",
        ),
        ("Say why\nat once\n\nBody.\n".to_owned(), "empty"),
        (
            "Say why\n\n# ------------------------ >8 ------------------------\ndiff\n".to_owned(),
            "body is missing",
        ),
    ] {
        let refused = refused(&message).unwrap_or_default();
        assert!(refused.contains(says), "{message}: {refused}");
    }
}
