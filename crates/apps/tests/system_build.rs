//! The applications, really built, and their own tests.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use weir_apps::{App, ServletApi, build, place};

fn skipped(test: &str) -> bool {
    let runs = std::env::var_os("WEIR_SYSTEM_TESTS").is_some_and(|value| value == "1");
    if !runs {
        eprintln!("skipped: {test} runs with WEIR_SYSTEM_TESTS=1 only");
    }
    !runs
}

/// The names in an archive stand in it as they are (APPNOTE.TXT of the ZIP format, 4.3.7).
fn holds(archive: &Path, name: &str) -> bool {
    let bytes = std::fs::read(archive).unwrap();
    bytes
        .windows(name.len())
        .any(|part| part == name.as_bytes())
}

/// The form for Tomcat 9; the other one, and the board, are built by the tests that run them.
#[test]
fn an_application_is_built_once() {
    if skipped("an_application_is_built_once") {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let app = App::Stress(ServletApi::Javax);
    let built = build(app, cache.path(), &AtomicBool::new(false), &mut |_| ()).unwrap();
    assert_eq!(built, place(app, cache.path()));
    assert!(holds(
        &built,
        "WEB-INF/classes/weir/stress/StressServlet.class"
    ));
    assert!(holds(&built, "WEB-INF/ibm-web-bnd.xml"));
    let made = built.metadata().unwrap().modified().unwrap();
    // Interrupted before it begins: so nothing is run.
    let again = build(app, cache.path(), &AtomicBool::new(true), &mut |_| ()).unwrap();
    assert_eq!(again.metadata().unwrap().modified().unwrap(), made);
    let left: Vec<_> = std::fs::read_dir(cache.path().join("apps"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn the_applications_own_tests_pass() {
    if skipped("the_applications_own_tests_pass") {
        return;
    }
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
    for name in ["stress", "posts"] {
        // Built elsewhere, so that a checkout stays as it is.
        let place = tempfile::tempdir().unwrap();
        let output = Command::new("mvn")
            .args(["--batch-mode", "--quiet", "--strict-checksums", "--file"])
            .arg(java.join(name).join("pom.xml"))
            .arg(format!("-Dweir.build={}", place.path().display()))
            .arg("test")
            .output()
            .unwrap();
        let says = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{name}: {says}");
    }
}
