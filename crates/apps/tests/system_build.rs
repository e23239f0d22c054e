//! The applications, really built, and their own tests.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_apps::{App, ServletApi, build, place};
use weir_shelf::maven;

static GO_ON: AtomicBool = AtomicBool::new(false);

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
    assert!(holds(
        &built,
        "WEB-INF/classes/weir/regulator/servlet/RegulatorFilter.class"
    ));
    let made = built.metadata().unwrap().modified().unwrap();
    // Interrupted before it begins: so nothing is run.
    let again = build(app, cache.path(), &AtomicBool::new(true), &mut |_| ()).unwrap();
    assert_eq!(again.metadata().unwrap().modified().unwrap(), made);
    let left: Vec<_> = std::fs::read_dir(cache.path().join("apps"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// On each of the two Javas, if there are two: the one in the search path and the newest of those
/// that Debian installs. With the recipe for Spring Boot, as the page has it.
#[test]
fn the_regulator_is_built_and_its_tests_pass() {
    if skipped("the_regulator_is_built_and_its_tests_pass") {
        return;
    }
    let regulator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java/regulator");
    let place = tempfile::tempdir().unwrap();
    let mut arguments = vec![
        "-Precipe".to_owned(),
        format!("-Dweir.build={}", place.path().display()),
        // The documentation is for those who install it, and takes as long as the tests.
        "-Dmaven.javadoc.skip".to_owned(),
    ];
    if let Some(java) = newest_java() {
        arguments.push(format!("-Dweir.also.java={}", java.display()));
    }
    arguments.push("verify".to_owned());
    maven(&regulator, &arguments, &GO_ON, &mut |_| ()).unwrap();
    for module in [
        "weir-regulator",
        "weir-regulator-jakarta",
        "weir-regulator-javax",
        "weir-regulator-micrometer",
        "weir-regulator-spring-boot-starter",
    ] {
        let jar = place.path().join(format!("{module}/{module}-1.jar"));
        let holds_sources = jar
            .with_file_name(format!("{module}-1-sources.jar"))
            .is_file();
        assert!(jar.is_file() && holds_sources, "{module}");
    }
}

/// The Java of the largest version below `/usr/lib/jvm`, by what its `release` file says.
fn newest_java() -> Option<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").ok()?;
    let versions = homes.filter_map(|home| {
        let home = home.ok()?.path();
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release.split("JAVA_VERSION=\"").nth(1)?;
        let major: u32 = version.split(['.', '"', '-']).next()?.parse().ok()?;
        Some((major, home.join("bin/java")))
    });
    versions
        .filter(|(_, java)| java.is_file())
        .max()
        .map(|(_, java)| java)
}

#[test]
fn the_applications_own_tests_pass() {
    if skipped("the_applications_own_tests_pass") {
        return;
    }
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
    for name in ["stress", "posts", "idle-threads"] {
        // Built elsewhere, so that a checkout stays as it is.
        let place = tempfile::tempdir().unwrap();
        let build = format!("-Dweir.build={}", place.path().display());
        let arguments = [build, "test".to_owned()];
        let told = maven(&java.join(name), &arguments, &GO_ON, &mut |_| ());
        assert!(told.is_ok(), "{name}: {told:?}");
    }
}
