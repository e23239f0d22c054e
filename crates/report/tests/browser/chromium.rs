//! A page in a frame of the wanted width, in a real browser, and what a script inside says of it.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// How the page is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) width: u32,
    pub(crate) is_dark: bool,
}

impl View {
    pub(crate) fn light(width: u32) -> Self {
        Self {
            width,
            is_dark: false,
        }
    }
}

/// The browser: what `CHROME` names, else the first of the usual names in the path.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CHROME") {
        return Some(PathBuf::from(named));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .flat_map(|directory| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| directory.join(name))
        })
        .find(|candidate| candidate.is_file())
}

/// The browser in the system profile, where there has to be one; otherwise a plain word that it is
/// not asked.
pub(crate) fn browser(test: &str) -> Option<PathBuf> {
    if env::var_os("WEIR_SYSTEM_TESTS").is_none_or(|value| value != "1") {
        eprintln!("skipped: {test} needs Chromium; WEIR_SYSTEM_TESTS=1 runs it");
        return None;
    }
    let found = chromium();
    assert!(
        found.is_some(),
        "the system tests need Chromium in the path, or CHROME=/path/to/it"
    );
    found
}

/// The page with a script at its head, so that it hears of every fault.
fn with_script(page: &str, script: &str) -> String {
    let script = format!("<head><script>{script}</script>");
    page.replacen("<head>", &script, 1)
}

fn frame(page_file: &str, width: u32) -> String {
    format!(
        "<!DOCTYPE html><body style='margin:0'><iframe src='{page_file}' width='{width}' height='900' style='border:0'></iframe>\
         <pre id='verdict'></pre><script>addEventListener('message', (event) => {{\
         document.getElementById('verdict').textContent = `BEGIN${{event.data}}END`; }});</script></body>"
    )
}

/// What the script inside the page says, once it has said it.
pub(crate) fn look<V: DeserializeOwned>(
    browser: &Path,
    (name, page): (&str, &str),
    script: &str,
    view: View,
) -> V {
    let View { width, is_dark } = view;
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-pages");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{name}.html")), page).unwrap();
    let shade = if is_dark { "dark" } else { "light" };
    let checked = format!("{name}-checked-{width}-{shade}.html");
    fs::write(directory.join(&checked), with_script(page, script)).unwrap();
    let framed = directory.join(format!("{name}-frame-{width}-{shade}.html"));
    fs::write(&framed, frame(&checked, width)).unwrap();
    let printed = dump(browser, &framed, is_dark);
    let from = printed
        .find(">BEGIN")
        .unwrap_or_else(|| panic!("no verdict in {printed}"))
        + ">BEGIN".len();
    let until = from + printed[from..].find("END<").unwrap();
    let verdict = printed[from..until]
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&verdict).unwrap_or_else(|error| panic!("{error} in {verdict}"))
}

/// What the browser makes of a file, as text; virtual time, so a busy machine changes nothing.
fn dump(browser: &Path, file: &Path, is_dark: bool) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--force-device-scale-factor=2",
            "--window-size=1500,1000",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!(
            "--blink-settings=preferredColorScheme={}",
            u8::from(!is_dark)
        ))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{} failed: {}",
        browser.display(),
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}
