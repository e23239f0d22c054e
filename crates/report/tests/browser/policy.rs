//! What a page's policy lets run: its own scripts, and nothing that a label brought with it.

use serde::Deserialize;
use weir_report::{gate_html, html};

use crate::chromium::{View, browser, look};
use crate::common::tune;

/// Stands before the policy in the page, so that it runs.
const WATCHING: &str = "\
    const refused = [];\
    addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));\
    addEventListener('load', () => setTimeout(() => parent.postMessage(JSON.stringify({\
      title: document.title, charts: document.querySelectorAll('canvas').length, refused }), '*'), 500));";

#[derive(Debug, Deserialize)]
struct Seen {
    title: String,
    charts: usize,
    refused: Vec<String>,
}

/// What an attacker would bring into a page that did not escape him.
const ATTACK: &str = "<script>document.title = 'attacked'</script>\
    <img src=\"data:,\" onerror=\"document.title = 'attacked'\"/>\
    <img src=\"http://127.0.0.1:9/stolen\"/></body>";

#[test]
fn what_is_brought_into_a_page_does_not_run() {
    let Some(browser) = browser("what_is_brought_into_a_page_does_not_run") else {
        return;
    };
    let page = html(&tune().input()).unwrap();
    let attacked = page.replacen("</body>", ATTACK, 1);
    let seen: Seen = look(
        &browser,
        ("policy-attacked", &attacked),
        WATCHING,
        View::light(1400),
    );
    assert_ne!(seen.title, "attacked", "{seen:?}");
    assert!(seen.charts > 2, "its own scripts run: {seen:?}");
    for directive in ["script-src-elem", "script-src-attr", "img-src"] {
        assert!(
            seen.refused.iter().any(|refused| refused == directive),
            "{seen:?}"
        );
    }
    // Without the policy it would run: the test can fail.
    let (before, rest) = attacked.split_once("<meta http-equiv").unwrap();
    let (_, after) = rest.split_once("/>").unwrap();
    let unprotected = format!("{before}{after}");
    let seen: Seen = look(
        &browser,
        ("policy-none", &unprotected),
        WATCHING,
        View::light(1400),
    );
    assert_eq!(seen.title, "attacked");
}

#[test]
fn a_page_keeps_its_own_policy() {
    let Some(browser) = browser("a_page_keeps_its_own_policy") else {
        return;
    };
    for (name, page) in [
        ("policy-tune", html(&tune().input()).unwrap()),
        ("policy-gate", gate_html().unwrap()),
    ] {
        let seen: Seen = look(&browser, (name, &page), WATCHING, View::light(1400));
        // From a file the page of a gateway has no gateway to ask.
        let own: Vec<&String> = seen
            .refused
            .iter()
            .filter(|what| *what != "connect-src")
            .collect();
        assert_eq!(own, Vec::<&String>::new(), "{name}");
    }
}
