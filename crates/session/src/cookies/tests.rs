use super::*;

const NOW: i64 = 1_700_000_000_000;

/// What is sent to `to` after `from` has set these cookies.
fn sent(policy: CookiePolicy, from: &str, cookies: &[&str], to: &str) -> Option<String> {
    let rules = CookieRules {
        policy,
        ..CookieRules::default()
    };
    let mut store = CookieStore::new(rules);
    let origin = Origin::of(from).expect("a whole URL");
    for cookie in cookies {
        store.receive(&origin, cookie, NOW, |_| ());
    }
    store.header(&Origin::of(to).expect("a whole URL"))
}

fn check(cookies: &[&str], to: &str, expected: &str) {
    let sent = sent(CookiePolicy::Standard, "http://h.example/a/b", cookies, to);
    assert_eq!(
        sent.as_deref().unwrap_or("nothing"),
        expected,
        "{cookies:?} to {to}"
    );
}

#[test]
fn paths_and_hosts() {
    check(&["x=1"], "http://h.example/a/c", "x=1");
    check(&["x=1"], "http://h.example/a", "x=1");
    check(&["x=1"], "http://h.example/ab", "nothing");
    check(&["x=1; Path=/"], "http://h.example:8080", "x=1");
    check(&["x=1; Path="], "http://H.EXAMPLE/z", "x=1");
    check(&["x=1; path=/other"], "http://h.example/other/", "x=1");
    check(&["x=1; Path=/"], "http://g.example/", "nothing");
    check(
        &["x=1; Path=/; Domain=.Example"],
        "http://g.example/",
        "x=1",
    );
    check(
        &["x=1; Path=/; Domain=elsewhere.test"],
        "http://elsewhere.test/",
        "nothing",
    );
    check(&["x=1; Path=/; Secure"], "http://h.example/", "nothing");
    check(&["x=1; Path=/; secure"], "https://h.example/", "x=1");
}

#[test]
fn the_longest_path_comes_first() {
    let cookies = ["a=1; Path=/", "b=2", "c=3; Path=/", "d=4; Path=/a/c"];
    check(&cookies, "http://h.example/a/c", "d=4; b=2; a=1; c=3");
}

#[test]
fn a_cookie_replaces_its_namesake_of_the_same_place() {
    let cookies = ["a=1; Path=/", "b=2; Path=/", "a=3; Path=/", "b=4"];
    check(&cookies, "http://h.example/", "b=2; a=3");
}

#[test]
fn values_are_unquoted_and_quoted_again() {
    check(&["x=\"a b\"; Path=/"], "http://h.example/", "x=\"a b\"");
    check(&["x=\"ab\"; Path=/"], "http://h.example/", "x=ab");
    check(&["x=a,b; Path=/"], "http://h.example/", "x=\"a,b\"");
    check(&["x=a=b; Path=/"], "http://h.example/", "x=a=b");
}

#[test]
fn cookies_end() {
    let end = |attribute: &str| {
        let cookie = format!("x=1; Path=/; {attribute}");
        let cookies = ["x=0; Path=/", &cookie];
        sent(CookiePolicy::Standard, "http://h/", &cookies, "http://h/")
    };
    assert_eq!(end("Max-Age=-1"), None);
    assert_eq!(end("Max-Age=10").as_deref(), Some("x=1"));
    assert_eq!(end("Max-Age=soon").as_deref(), Some("x=1"));
    assert_eq!(end("Expires=Wed, 21 Oct 2015 07:28:00 GMT"), None);
    assert_eq!(
        end("Expires=Wed, 21 Oct 2065 07:28:00 GMT").as_deref(),
        Some("x=1")
    );
    assert_eq!(
        end("Expires=Wed, 21 Oct 2015 07:28:00 GMT; max-age=9").as_deref(),
        Some("x=1")
    );
    assert_eq!(
        end("Expires=Thu, 01 Jan 1970 00:00:00 GMT").as_deref(),
        Some("x=1")
    );
    // A date that cannot be read spoils the whole header.
    assert_eq!(end("Expires=later").as_deref(), Some("x=0"));
    let emptied = ["x=1; Path=/", "x=; Path=/"];
    assert_eq!(
        sent(CookiePolicy::Standard, "http://h/", &emptied, "http://h/"),
        None
    );
}

#[test]
fn what_is_no_cookie_is_dropped() {
    for cookie in [
        "",
        "x",
        "=1",
        "; Path=/",
        "x; Path=/",
        ";;;=",
        "x=1; Domain=",
    ] {
        check(&[cookie], "http://h.example/a/b", "nothing");
    }
}

#[test]
fn policies_differ() {
    let of = |policy: &str, cookie: &str| {
        let policy = CookiePolicy::named(policy).expect("a known policy");
        let sent = sent(
            policy,
            "http://127.0.0.1/a/b",
            &[cookie],
            "http://127.0.0.1/a/b",
        );
        sent.unwrap_or_default()
    };
    assert_eq!(of("netscape", "x=\"a b\"; Max-Age=-1"), "x=\"a b\"");
    assert_eq!(of("default", "x=\"a b\""), "x=\"a b\"");
    assert_eq!(
        of("netscape", "x=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT"),
        ""
    );
    assert_eq!(
        of("netscape", "x=1; Expires=Wed, 21-Oct-65 07:28:00 GMT"),
        "x=1"
    );
    assert_eq!(
        of("best-match", "x=1; Version=1; Path=/a"),
        "$Version=1; x=\"1\"; $Path=\"/a\""
    );
    assert_eq!(
        of("rfc2109", "x=1, y=2; Path=/"),
        "$Version=0; x=1; y=2; $Path=/"
    );
    assert_eq!(
        of(
            "standard-strict",
            "x=1; Expires=Wed, 21-Oct-65 07:28:00 GMT"
        ),
        "x=1"
    );
    assert_eq!(of("standard-strict", "x=1; Max-Age=soon"), "");
    assert_eq!(of("ignorecookies", "x=1"), "");
}

#[test]
fn cookies_of_the_plan_come_back_when_the_store_is_reset() {
    let of_plan = |value: &str| Cookie {
        name: "p".to_owned(),
        value: value.to_owned(),
        domain: "h".to_owned(),
        path: "/".to_owned(),
        is_secure: false,
        gives_domain: true,
        gives_path: true,
        version: 1,
    };
    let home = Origin::of("http://h/").expect("a whole URL");
    let mut store = CookieStore::new(CookieRules::default());
    store.reset([of_plan("1"), of_plan("2")]);
    store.renew(|place, cookie| cookie.value = format!("n{place}"));
    assert_eq!(store.header(&home).as_deref(), Some("p=n0; p=n1"));
    let mut kept = Vec::new();
    store.receive(&home, "p=3", NOW, |cookie| kept.push(cookie.value.clone()));
    store.renew(|_, cookie| cookie.value.clear());
    assert_eq!(store.header(&home).as_deref(), Some("p=3"));
    assert_eq!(kept, ["3"]);
    store.reset([of_plan("")]);
    assert_eq!(store.header(&home).as_deref(), Some("p="));
}

#[test]
fn unchecked_cookies_are_kept_for_other_hosts() {
    let mut store = CookieStore::new(CookieRules {
        checks: false,
        ..CookieRules::default()
    });
    let home = Origin::of("http://h.test/").expect("a whole URL");
    store.receive(&home, "x=1; Domain=g.test", NOW, |_| ());
    let other = Origin::of("http://g.test/").expect("a whole URL");
    assert_eq!(store.header(&other).as_deref(), Some("x=1"));
}

#[test]
fn a_server_cannot_fill_the_memory() {
    let home = Origin::of("http://h/").expect("a whole URL");
    let mut store = CookieStore::new(CookieRules::default());
    for number in 0..RECEIVED_MAX + 10 {
        store.receive(&home, &format!("c{number}=1"), NOW, |_| ());
    }
    assert_eq!(store.held.len(), RECEIVED_MAX);
    assert_eq!(store.held[0].cookie.name, "c10");
}

proptest::proptest! {
    #[test]
    fn any_header_is_taken(header in "\\PC*", path in "[a-z/?#]*") {
        for policy in ["standard", "standard-strict", "netscape", "default", "rfc2109"] {
            let policy = CookiePolicy::named(policy).expect("a known policy");
            let url = format!("http://h/{path}");
            sent(policy, &url, &[&header], &url);
        }
    }
}
