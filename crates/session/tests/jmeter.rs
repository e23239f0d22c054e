//! What is sent under each policy is what JMeter 5.6.3 sent.

use weir_plan::CookiePolicy;
use weir_session::{CookieRules, CookieStore, Origin};

const RECORDED: &[u8] = include_bytes!("recorded/cookies.txt");
/// Some day between those that the cookies name.
const NOW_MS: i64 = 1_795_000_000_000;

#[test]
fn cookies_go_where_jmeter_sends_them() {
    let text: String = RECORDED.iter().map(|byte| char::from(*byte)).collect();
    let cookies: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("set "))
        .collect();
    let server = Origin::of("http://a.test.example/a/b").expect("a whole URL");
    let mut store = CookieStore::new(CookieRules::default());
    let mut compared = 0;
    let mut current = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("policy ") {
            let policy = CookiePolicy::named(name).expect("a known policy");
            let rules = CookieRules {
                policy,
                ..CookieRules::default()
            };
            store = CookieStore::new(rules);
            for cookie in &cookies {
                store.receive(&server, cookie, NOW_MS, |_| ());
            }
            current = name;
        }
        if let Some(probe) = line.strip_prefix("to ") {
            let (url, sent) = probe.split_once(' ').unwrap_or((probe, ""));
            let to = Origin::of(url).expect("a whole URL");
            assert_eq!(
                store.header(&to).unwrap_or_default(),
                sent,
                "{current}: {url}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 7 * 8);
}
