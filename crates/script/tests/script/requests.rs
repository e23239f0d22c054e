//! The bytes that go out, against what JMeter 5.6.3 sent for the same sampler.
//!
//! Each case was run through a real JMeter 5.6.3 (Java 17) against a server that recorded what
//! arrived; only `User-Agent` is Weir's own. Failures are the columns of JMeter's results.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_plan::{Argument, HttpRequest, LoadPlan, Proxy, Sampler, Template, ThreadGroup};
use weir_reach::Reach;
use weir_script::{
    Changes, GlobalVariables, Origin, Properties, ResolveError, ResolvedPlan, SamplerName,
    SentRequest, Target, Text, Unsendable, prepare_request, resolve, write_request,
};

fn request(method: &str, path: &str) -> HttpRequest {
    HttpRequest {
        host: Template::literal("127.0.0.1"),
        port: Template::literal("19741"),
        path: Template::literal(path),
        method: Template::literal(method),
        ..HttpRequest::default()
    }
}

/// Arguments as `name=value`; `!` in front: encode them; `~`: written without `=`.
fn with_arguments(mut request: HttpRequest, arguments: &[&str]) -> HttpRequest {
    for text in arguments {
        let encoded = text.strip_prefix('!');
        let bare = text.strip_prefix('~');
        let (name, value) = encoded.or(bare).unwrap_or(text).split_once('=').unwrap();
        request.arguments.push(Argument {
            name: Template::literal(name),
            value: Template::literal(value),
            always_encode: encoded.is_some(),
            use_equals: bare.is_none(),
            content_type: Template::default(),
        });
    }
    request
}

fn with_headers(mut request: HttpRequest, headers: &[(&str, &str)]) -> HttpRequest {
    let templates = headers
        .iter()
        .map(|(n, v)| (Template::literal(*n), Template::literal(*v)));
    request.headers.extend(templates);
    request
}

fn raw(mut request: HttpRequest) -> HttpRequest {
    request.raw_body = true;
    request
}

fn plan_of(requests: Vec<HttpRequest>) -> ResolvedPlan {
    try_plan_of(requests).unwrap()
}

fn try_plan_of(requests: Vec<HttpRequest>) -> Result<ResolvedPlan, ResolveError> {
    let samplers = requests
        .into_iter()
        .map(|request| Sampler::http(Template::literal("sample"), request).into());
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups: vec![ThreadGroup {
            name: Template::literal("G"),
            users: Template::literal("1"),
            ramp_up_s: Template::literal("0"),
            nodes: samplers.collect(),
            ..ThreadGroup::default()
        }],
        ..LoadPlan::default()
    };
    // Files that are sent lie in folders of their own.
    let plan = LoadPlan {
        reach: Some(Reach::default().allow(&std::env::temp_dir())),
        ..plan
    };
    resolve(&plan, &Properties::new(), Origin::default())
}

fn send(request: HttpRequest, target: Option<&Target>) -> (SentRequest, Result<(), Unsendable>) {
    let plan = plan_of(vec![request]);
    let mut scope = plan.scope("G", 1, Xoshiro256PlusPlus::seed_from_u64(1));
    let mut sent = SentRequest::default();
    let request = plan.groups[0].requests().next().unwrap();
    let written = write_request(request, target, &mut scope, &mut sent);
    (sent, written)
}

/// What was sent, with characters for bytes and without the fields that are always the same.
fn shown(sent: &SentRequest) -> String {
    let text: String = sent.bytes.iter().copied().map(char::from).collect();
    let agent = concat!("User-Agent: weir/", env!("CARGO_PKG_VERSION"), "\r\n");
    text.replacen(agent, "", 1)
        .replacen("Connection: close\r\n", "", 1)
        .replacen("Host: 127.0.0.1:19741\r\n", "<host>\r\n", 1)
}

fn check(request: HttpRequest, expect: &str) {
    let input = format!("{request:?}");
    let (sent, written) = send(request, None);
    assert_eq!(written, Ok(()), "{input}");
    assert_eq!(shown(&sent), expect.replace('\n', "\r\n"), "{input}");
}

fn check_url(request: HttpRequest, line: &str, url: &str) {
    let (sent, written) = send(request, None);
    assert_eq!(written, Ok(()), "{url}");
    assert_eq!(
        shown(&sent).lines().next(),
        Some(&*format!("{line} HTTP/1.1"))
    );
    assert_eq!(sent.url, format!("http://127.0.0.1:19741{url}"));
}

fn check_failure(request: HttpRequest, class: &str, message: &str, url: &str) {
    let (sent, written) = send(request, None);
    let unsendable = written.expect_err(message);
    assert_eq!(
        unsendable.response_code(),
        format!("Non HTTP response code: {class}")
    );
    assert_eq!(
        unsendable.response_message(),
        format!("Non HTTP response message: {message}")
    );
    assert_eq!(sent.url, url);
    assert!(sent.bytes.is_empty(), "{message}");
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\n";
const TEXT: &str = "Content-Type: text/plain; charset=UTF-8\n";

fn expect(line: &str, content_type: &str, body: &str) -> String {
    let length = body.chars().count();
    format!("{line} HTTP/1.1\nContent-Length: {length}\n{content_type}<host>\n\n{body}")
}

#[test]
fn whole_head() {
    let (sent, _) = send(request("GET", "/p"), None);
    let agent = concat!("User-Agent: weir/", env!("CARGO_PKG_VERSION"), "\r\n\r\n");
    let head = "GET /p HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:19741\r\n";
    assert_eq!(
        String::from_utf8(sent.bytes).unwrap(),
        format!("{head}{agent}")
    );
    assert_eq!(
        (&*sent.host, sent.port, sent.is_head),
        ("127.0.0.1", 19741, false)
    );
    let mut kept = request("HEAD", "/p");
    kept.keep_alive = true;
    let (sent, _) = send(kept, None);
    assert!(sent.is_head);
    assert!(
        sent.bytes
            .starts_with(b"HEAD /p HTTP/1.1\r\nConnection: keep-alive\r\nHost: ")
    );
}

#[test]
fn queries() {
    let get = |path, arguments: &[&str]| with_arguments(request("GET", path), arguments);
    for (path, arguments, line, url) in [
        (
            "/p",
            &[
                "!a=x y",
                "b=x%20y",
                "=skip",
                "!c d=é&=",
                "~e=",
                "f=",
                "~g=v",
                "!j=*-._~!",
            ][..],
            "GET /p?a=x+y&b=x%20y&c+d=%C3%A9%26%3D&e&f=&gv&j=*-._%7E%21",
            "/p?a=x+y&b=x%20y&c+d=%C3%A9%26%3D&e&f=&gv&j=*-._%7E%21",
        ),
        ("/p?z=1", &["a=1"], "GET /p?z=1&a=1", "/p?z=1&a=1"),
        (
            "/p",
            &["!${undef}=1"],
            "GET /p?%24%7Bundef%7D=1",
            "/p?%24%7Bundef%7D=1",
        ),
        ("/p", &["! =1", "a=1"], "GET /p?+=1&a=1", "/p?+=1&a=1"),
        ("/p", &["a=ü"], "GET /p?a=%C3%BC", "/p?a=ü"),
        ("/p", &["a=x#y"], "GET /p?a=x", "/p?a=x#y"),
    ] {
        check_url(get(path, arguments), line, url);
    }
    check_url(
        with_arguments(request("OPTIONS", "/p"), &["a=1"]),
        "OPTIONS /p?a=1",
        "/p?a=1",
    );
    check_url(
        with_arguments(request("HEAD", "/p"), &["a=1"]),
        "HEAD /p",
        "/p",
    );
    check_url(
        with_arguments(request("TRACE", "/p"), &["a=1"]),
        "TRACE /p",
        "/p",
    );
}

#[test]
fn paths() {
    for (path, sent, url) in [
        ("", "/", "/"),
        ("a b", "/a%20b", "/a%20b"),
        ("?x=1", "/?x=1", "/?x=1"),
        ("/a?", "/a?", "/a?"),
        ("/a?b=c d", "/a?b=c%20d", "/a?b=c%20d"),
        ("/a?q=[a]", "/a?q=[a]", "/a?q=[a]"),
        ("/a??b", "/a??b", "/a??b"),
        ("/a#f?x", "/a", "/a#f?x"),
        ("/ü", "/%C3%BC", "/ü"),
        ("/a?ü=1", "/a?%C3%BC=1", "/a?ü=1"),
        ("/\u{1f600}", "/%F0%9F%98%80", "/\u{1f600}"),
        ("/a//b?x//y", "/a/b?x//y", "/a//b?x//y"),
        (
            "HTTP://localhost:1/u",
            "/HTTP:/localhost:1/u",
            "/HTTP://localhost:1/u",
        ),
    ] {
        check_url(request("GET", path), &format!("GET {sent}"), url);
    }
}

#[test]
fn whole_urls() {
    for (path, line, host) in [
        (
            "http://127.0.0.1:19741/full?x",
            "GET /full?x",
            "127.0.0.1:19741",
        ),
        ("http://localhost:19741", "GET /", "localhost:19741"),
        ("http://127.0.0.1:19741?q", "GET /?q", "127.0.0.1:19741"),
        ("http://127.0.0.1:19741#f", "GET /", "127.0.0.1:19741"),
        ("http://u:p@127.0.0.1:19741/x", "GET /x", "127.0.0.1:19741"),
    ] {
        let (sent, written) = send(with_arguments(request("GET", path), &["a=1"]), None);
        assert_eq!(written, Ok(()), "{path}");
        let text = String::from_utf8(sent.bytes).unwrap();
        assert!(text.starts_with(&format!("{line} HTTP/1.1\r\n")), "{text}");
        assert!(text.contains(&format!("\r\nHost: {host}\r\n")), "{text}");
        assert_eq!(sent.url, path);
    }
    let post = with_arguments(request("POST", "http://127.0.0.1:19741/x"), &["a=1"]);
    check(post, &expect("POST /x", FORM, "a=1"));
}

#[test]
fn forms() {
    let form = |method, arguments: &[&str]| with_arguments(request(method, "/p"), arguments);
    check(
        form(
            "POST",
            &[
                "!a=x y",
                "b=x%20y+z",
                "!c d=é&=*-._~!",
                "~e=",
                "~g=v",
                "=skip",
                "${undef}=u",
            ],
        ),
        &expect(
            "POST /p",
            FORM,
            "a=x+y&b=x+y+z&c+d=%C3%A9%26%3D*-._%7E%21&e=&g=v",
        ),
    );
    for (argument, body) in [
        ("a=%ff", "a=%EF%BF%BD"),
        ("b=%41%2b+%C3%A9", "b=A%2B+%C3%A9"),
        ("a%20b=1", "a+b=1"),
        ("${a}${b}=3", ""),
        ("! =1", ""),
        ("x${undef}=1", "x%24%7Bundef%7D=1"),
        ("a=${undef}", "a=%24%7Bundef%7D"),
    ] {
        check(form("POST", &[argument]), &expect("POST /p", FORM, body));
    }
    for method in ["POST", "PUT", "DELETE", "FOO"] {
        check(
            request(method, "/p"),
            &expect(&format!("{method} /p"), FORM, ""),
        );
    }
    for method in ["PUT", "PATCH", "PROPFIND", "get"] {
        check(
            form(method, &["a=1"]),
            &expect(&format!("{method} /p"), FORM, "a=1"),
        );
    }
    check(
        form("DELETE", &["!a=1 2"]),
        &expect("DELETE /p?a=1+2", FORM, "a=1+2"),
    );
    let with_query = with_arguments(request("POST", "/p?z=1"), &["a=1"]);
    check(with_query, &expect("POST /p?z=1", FORM, "a=1"));
}

#[test]
fn raw_bodies() {
    let with = |method, arguments: &[&str]| with_arguments(request(method, "/p"), arguments);
    check(
        with("GET", &["=x y", "!=z&"]),
        &expect("GET /p", TEXT, "x yz%26"),
    );
    check(
        with("POST", &["={\"a\":\"e b\"}", "!=x y"]),
        &expect("POST /p", TEXT, "{\"a\":\"e b\"}x+y"),
    );
    check(
        raw(with("POST", &["!n=x y"])),
        &expect("POST /p", TEXT, "x+y"),
    );
    check(
        raw(with("GET", &["n=xy", "=z"])),
        &expect("GET /p?n=xy", TEXT, "xyz"),
    );
    for method in ["DELETE", "FOO"] {
        check(
            with(method, &["=1"]),
            &expect(&format!("{method} /p"), TEXT, "1"),
        );
    }
    for method in ["GET", "POST"] {
        check(
            with(method, &["="]),
            &expect(&format!("{method} /p"), TEXT, ""),
        );
        check(
            raw(request(method, "/p")),
            &expect(&format!("{method} /p"), TEXT, ""),
        );
    }
    for method in ["HEAD", "OPTIONS", "TRACE"] {
        check(
            with(method, &["=1"]),
            &format!("{method} /p HTTP/1.1\n<host>\n\n"),
        );
    }
    let (sent, _) = send(with("POST", &["=é\n"]), None);
    assert!(sent.bytes.ends_with(b"\r\n\r\n\xc3\xa9\n"));
}

#[test]
fn header_fields() {
    let form = with_arguments(request("POST", "/p"), &["a=1"]);
    check(
        with_headers(
            form,
            &[
                ("X-A", "1"),
                ("Content-Type", "application/x"),
                ("Content-Length", "99"),
                ("X-a", "2"),
                ("Host", "other"),
                ("Connection", "foo"),
                ("User-Agent", "me"),
                ("", "empty"),
                ("X-E", ""),
                ("Accept", "é"),
            ],
        ),
        "POST /p HTTP/1.1\nX-A: 1\nContent-Type: application/x\nX-a: 2\nHost: other:19741\n\
         Connection: foo\nUser-Agent: me\n: empty\nX-E: \nAccept: é\nContent-Length: 3\n\na=1",
    );
    check(
        with_headers(
            request("GET", "/p"),
            &[
                ("X-N", "a\nb"),
                ("X-T", "a\tb"),
                ("HOST", "other:99"),
                ("content-type", "x"),
            ],
        ),
        "GET /p HTTP/1.1\nX-N: a b\nX-T: a\tb\nHost: other:99\ncontent-type: x\n\n",
    );
    let body = with_arguments(request("GET", "/p"), &["=body"]);
    check(
        with_headers(body, &[("Content-Type", "application/json")]),
        "GET /p HTTP/1.1\nContent-Type: application/json\nContent-Length: 4\n<host>\n\nbody",
    );
}

#[test]
fn failures_before_sending() {
    const SYNTAX: &str = "java.net.URISyntaxException";
    const ARGUMENT: &str = "java.lang.IllegalArgumentException";
    const MALFORMED: &str = "java.net.MalformedURLException";
    const SCHEME: &str = "org.apache.http.conn.UnsupportedSchemeException";
    let origin = "http://127.0.0.1:19741";
    for (path, says) in [
        ("/a|b", "Illegal character in path at index 24"),
        ("/a%zz", "Malformed escape pair at index 24"),
        ("/a%", "Malformed escape pair at index 24"),
        ("/a%1", "Malformed escape pair at index 24"),
        ("/a?%", "Malformed escape pair at index 25"),
        ("/a?q={a}", "Illegal character in query at index 27"),
        ("/a[1]", "Illegal character in path at index 24"),
        ("/a\\b", "Illegal character in path at index 24"),
        ("/a\u{a0}b", "Illegal character in path at index 24"),
        ("/a\u{85}b", "Illegal character in path at index 24"),
        ("/a\u{2028}b", "Illegal character in path at index 24"),
        ("/a\tb", "Illegal character in path at index 24"),
        ("/a#f|", "Illegal character in fragment at index 26"),
        ("/a?b#c#d", "Illegal character in fragment at index 28"),
    ] {
        let url = format!("{origin}{path}");
        check_failure(
            request("GET", path),
            SYNTAX,
            &format!("{says}: {url}"),
            &url,
        );
    }
    let spaced = with_arguments(request("GET", "/p"), &["a=x y"]);
    let url = format!("{origin}/p?a=x y");
    let says = format!("Illegal character in query at index 28: {url}");
    check_failure(spaced, SYNTAX, &says, &url);
    let url = format!("{origin}/p");
    for method in ["", "P Q", "É", " GET "] {
        let says = format!("Unexpected method: '{method}'");
        check_failure(request(method, "/p"), ARGUMENT, &says, &url);
    }
    let percent = with_arguments(request("POST", "/p"), &["a=100%"]);
    let says = "URLDecoder: Incomplete trailing escape (%) pattern";
    check_failure(percent, ARGUMENT, says, &url);
    let mut foo = request("GET", "/p");
    foo.protocol = Template::literal("foo");
    check_failure(foo, MALFORMED, "unknown protocol: foo", "");
    let ftp = "ftp://127.0.0.1:19741/p";
    check_failure(
        at("ftp", "127.0.0.1", "19741"),
        SCHEME,
        "ftp protocol is not supported",
        ftp,
    );
}

fn at(protocol: &str, host: &str, port: &str) -> HttpRequest {
    let mut request = request("GET", "/p");
    request.protocol = Template::literal(protocol);
    request.host = Template::literal(host);
    request.port = Template::literal(port);
    request
}

#[test]
fn servers() {
    for (host, port, url, host_field, connects) in [
        (
            "127.0.0.1",
            "abc",
            "http://127.0.0.1/p",
            "127.0.0.1",
            ("127.0.0.1", 80),
        ),
        (
            "127.0.0.1",
            "-1",
            "http://127.0.0.1/p",
            "127.0.0.1",
            ("127.0.0.1", 80),
        ),
        (
            "127.0.0.1",
            "80",
            "http://127.0.0.1/p",
            "127.0.0.1",
            ("127.0.0.1", 80),
        ),
        (
            "LOCALHOST",
            " 81 ",
            "http://LOCALHOST:81/p",
            "LOCALHOST:81",
            ("LOCALHOST", 81),
        ),
        ("::1", "81", "http://[::1]:81/p", "[::1]:81", ("::1", 81)),
        ("[::1]", "81", "http://[::1]:81/p", "[::1]:81", ("::1", 81)),
        (
            "ü.invalid",
            "81",
            "http://ü.invalid:81/p",
            "?",
            ("ü.invalid", 81),
        ),
    ] {
        let (sent, written) = send(at("HTTP", host, port), None);
        assert_eq!((written, &*sent.url), (Ok(()), url));
        assert_eq!((&*sent.host, sent.port), connects);
        if host_field != "?" {
            let text = String::from_utf8(sent.bytes).unwrap();
            assert!(
                text.contains(&format!("\r\nHost: {host_field}\r\n")),
                "{text}"
            );
        }
    }
}

#[test]
fn servers_that_are_none() {
    for (host, port, class, message) in [
        (
            "",
            "1",
            "org.apache.http.client.ClientProtocolException",
            "URI does not specify a valid host name: http://:1/p",
        ),
        (
            " 127.0.0.1",
            "1",
            "java.net.URISyntaxException",
            "Illegal character in authority at index 7: http:// 127.0.0.1:1/p",
        ),
        (
            "a b",
            "1",
            "java.net.URISyntaxException",
            "Illegal character in authority at index 7: http://a b:1/p",
        ),
        (
            "127.0.0.1:99",
            "1",
            "java.net.URISyntaxException",
            "Malformed IPv6 address at index 8: http://[127.0.0.1:99]:1/p",
        ),
        (
            "h",
            "70000",
            "java.lang.IllegalArgumentException",
            "port out of range:70000",
        ),
    ] {
        let url = message
            .rfind("http:")
            .map_or("http://h:70000/p", |i| &message[i..]);
        check_failure(at("", host, port), class, message, url);
    }
    for (host, says) in [
        ("user@h", "Illegal character found in host: '@': user@h:1"),
        ("a?b", "Illegal character found in host: '?': a?b:1"),
    ] {
        let url = format!("http://{host}:1/p");
        check_failure(at("", host, "1"), "java.net.URISyntaxException", says, &url);
    }
    check_failure(
        at("", "a/b", "1"),
        "java.net.MalformedURLException",
        "Illegal character found in host: '/'",
        "",
    );
}

/// Not JMeter's: a target takes the place of protocol, host and port everywhere.
#[test]
fn targets() {
    let target: Target = "http://[::1]:81".parse().unwrap();
    for (path, url) in [
        ("/p", "http://[::1]:81/p"),
        ("https://other:444/q?x", "http://[::1]:81/q?x"),
    ] {
        let (sent, written) = send(request("GET", path), Some(&target));
        assert_eq!(
            (written, &*sent.url, &*sent.host, sent.port),
            (Ok(()), url, "::1", 81)
        );
    }
    assert_eq!(target.to_string(), "http://[::1]:81");
    assert_eq!("http://h/".parse::<Target>().unwrap().port, 80);
    for text in [
        "h:80",
        "http://",
        "http://h:80/path",
        "http://a b",
        "http://h:x",
        "ftp://h",
    ] {
        let error = text.parse::<Target>().unwrap_err().to_string();
        assert!(
            error.contains(text) && error.contains("http://HOST:PORT"),
            "{error}"
        );
    }
}

#[test]
fn prepared_once_when_nothing_changes() {
    let constant = with_arguments(request("POST", "/p"), &["a=1"]);
    let changing = with_arguments(request("POST", "/p"), &["a=${__threadNum}"]);
    let plan = plan_of(vec![constant.clone(), changing]);
    let requests: Vec<_> = plan.groups[0].requests().collect();
    let prepared = prepare_request(requests[0], None).unwrap().unwrap();
    assert_eq!(prepared.bytes, send(constant, None).0.bytes);
    assert!(prepare_request(requests[1], None).is_none());
}

/// JMeter 5.6.3, measured: a text is made anew wherever somebody looks at it. The order is path,
/// query, name, header fields, body; a DELETE has its arguments in the query and once more in the
/// body.
#[test]
fn texts_are_made_where_they_are_looked_at() {
    let order = |method: &str| {
        let mut asked = with_arguments(
            request(method, "/${__split(P,a,)}"),
            &["x=${a}${__split(X,a,)}"],
        );
        asked.headers = vec![(
            Template::literal("H"),
            Template::literal("${a}${__split(H,a,)}"),
        )];
        let plan = plan_of(vec![asked]);
        let mut scope = plan.scope("G", 1, Xoshiro256PlusPlus::seed_from_u64(7));
        let name = Template::literal("${__split(N,a,)}");
        let name = Text::compile(&name, &GlobalVariables::default(), Changes::default()).unwrap();
        scope.sampler = SamplerName::Written(Arc::new(name));
        let mut sent = SentRequest::default();
        let request = plan.groups[0].requests().next().unwrap();
        write_request(request, None, &mut scope, &mut sent).unwrap();
        let text = String::from_utf8(sent.bytes).unwrap();
        let target = text.split(' ').nth(1).unwrap().to_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let field = head.split("\r\nH: ").nth(1).unwrap();
        let field = field.split('\r').next().unwrap();
        format!("{target} {field} {body}")
    };
    assert_eq!(order("GET"), "/P?x=PX NH ");
    assert_eq!(order("POST"), "/P NH x=HX");
    assert_eq!(order("DELETE"), "/P?x=PX NH x=HX");
    assert_eq!(order("HEAD"), "/P NH ");
}

proptest! {
    /// Whatever a plan says, the head has as many lines as it has fields, and the body is as long
    /// as its head says.
    #[test]
    fn no_text_breaks_the_head(
        method in "([A-Z]{1,7}|\\PC{0,5})",
        path in "([a-z/?#%]{0,10}|\\PC{0,20})",
        name in "\\PC{0,10}",
        value in "(?s:.{0,10})",
        header in "(?s:.{0,20})",
        always_encode: bool,
        raw_body: bool,
    ) {
        let mut request = request(&method, &path);
        request.raw_body = raw_body;
        request.arguments.push(Argument {
            name: Template::literal(name),
            value: Template::literal(value),
            always_encode,
            use_equals: true,
            content_type: Template::default(),
        });
        request.headers.push((Template::literal("X-H"), Template::literal(header)));
        let Ok(plan) = try_plan_of(vec![request]) else {
            // Not a text that can be compiled: `${__` and the like.
            return Ok(());
        };
        let mut scope = plan.scope("G", 1, Xoshiro256PlusPlus::seed_from_u64(1));
        let mut sent = SentRequest::default();
        let request = plan.groups[0].requests().next().unwrap();
        if write_request(request, None, &mut scope, &mut sent).is_ok() {
            let end = sent.bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
            let head: String = sent.bytes[..end].iter().copied().map(char::from).collect();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            prop_assert_eq!(sent.bytes.len() - end - 4, length);
            prop_assert_eq!(head.matches('\r').count(), head.matches('\n').count());
            prop_assert!(head.lines().count() <= 7);
        }
    }
}

/// What JMeter 5.6.3 sends through a proxy: the whole URL to one that forwards, the path alone into
/// a tunnel.
#[test]
fn requests_through_a_proxy() {
    let by_proxy = |protocol: &str, not_for: &str| {
        let mut request = request("GET", "/x?y=z");
        request.protocol = Template::literal(protocol);
        request.proxy = Some(Proxy {
            host: Template::literal("127.0.0.1"),
            port: Template::literal("3128"),
            not_for: Template::literal(not_for),
            ..Proxy::default()
        });
        request
    };
    let plan = plan_of(vec![
        by_proxy("http", ""),
        by_proxy("https", ""),
        by_proxy("http", "localhost|127.*|*.0.1"),
    ]);
    let requests: Vec<_> = plan.groups[0].requests().collect();
    let sent = |at: usize| prepare_request(requests[at], None).unwrap().unwrap();
    let text = |sent: &SentRequest| String::from_utf8(sent.bytes.clone()).unwrap();
    let forwarded = sent(0);
    assert!(text(&forwarded).starts_with(
        "GET http://127.0.0.1:19741/x?y=z HTTP/1.1\r\nConnection: close\r\n\
         Host: 127.0.0.1:19741\r\nProxy-Connection: Keep-Alive\r\nUser-Agent: weir/"
    ));
    assert_eq!(forwarded.proxy.as_ref().unwrap().port, 3128);
    let tunnelled = sent(1);
    assert!(text(&tunnelled).starts_with("GET /x?y=z HTTP/1.1\r\n"));
    assert!(tunnelled.proxy.is_some());
    let direct = sent(2);
    assert!(text(&direct).starts_with("GET /x?y=z HTTP/1.1\r\n"));
    assert_eq!(direct.proxy, None);
    let hosts = plan.hosts(None).unwrap();
    let proxies: Vec<bool> = hosts.iter().map(|host| host.proxy.is_some()).collect();
    assert_eq!(proxies, [true, true, false]);
}

const LETTERS: &str = "aé€日😀 +&%41";

fn encoded(mut request: HttpRequest, encoding: &str) -> HttpRequest {
    request.encoding = Template::literal(encoding);
    request
}

#[test]
fn query_values_are_in_the_content_encoding() {
    for (encoding, value) in [
        ("", "a%C3%A9%E2%82%AC%E6%97%A5%F0%9F%98%80+%2B%26%2541"),
        ("ISO-8859-1", "a%E9%3F%3F%3F+%2B%26%2541"),
        ("windows-1252", "a%E9%80%3F%3F+%2B%26%2541"),
        ("US-ASCII", "a%3F%3F%3F%3F+%2B%26%2541"),
        ("Shift_JIS", "a%3F%3F%93%FA%3F+%2B%26%2541"),
        ("GBK", "a%A8%A6%A2%E3%C8%D5%3F+%2B%26%2541"),
        (
            "UTF-16",
            "a%FE%FF%00%E9%20%AC%65%E5%D8%3D%DE%00+%FE%FF%00%2B%00%26%00%2541",
        ),
        (
            "UTF-32",
            "a%00%00%00%E9%00%00%20%AC%00%00%65%E5%00%01%F6%00+%00%00%00%2B%00%00%00%26%00%00%00%2541",
        ),
        ("nosuch", ""),
        (" ISO-8859-1 ", ""),
    ] {
        let argument = format!("!né={LETTERS}");
        let request = with_arguments(request("GET", "/echo"), &[&argument]);
        let url = format!("/echo?n%C3%A9={value}");
        check_url(encoded(request, encoding), &format!("GET {url}"), &url);
    }
    let plain = with_arguments(request("GET", "/echo"), &["né=é€x"]);
    let line = "GET /echo?n%C3%A9=%C3%A9%E2%82%ACx";
    check_url(encoded(plain, "nosuch"), line, "/echo?né=é€x");
}

#[test]
fn bodies_are_in_the_content_encoding() {
    let form = |charset: &str| {
        format!("Content-Type: application/x-www-form-urlencoded; charset={charset}\n")
    };
    let text = |charset: &str| format!("Content-Type: text/plain; charset={charset}\n");
    for (encoding, name, sent_form, sent_decoded, sent_raw) in [
        (
            "latin1",
            "ISO-8859-1",
            "n%E9=a%E9%3F%3F%3F+%2B%26%2541&b=c+d",
            "n%E9=a%E9%3F%E9%C3%A9+x+y",
            "a\u{e9}??? +&%41",
        ),
        (
            "windows-1252",
            "windows-1252",
            "n%E9=a%E9%80%3F%3F+%2B%26%2541&b=c+d",
            "n%E9=a%E9%80%E9%C3%A9+x+y",
            "a\u{e9}\u{80}?? +&%41",
        ),
        (
            "Shift_JIS",
            "Shift_JIS",
            "n%3F=a%3F%3F%93%FA%3F+%2B%26%2541&b=c+d",
            "n%3F=a%3F%3F%E9%C3%A9+x+y",
            "a??\u{93}\u{fa}? +&%41",
        ),
    ] {
        let argument = format!("!né={LETTERS}");
        let arguments = [&*argument, "b=c d"];
        let request = |method| encoded(request(method, "/echo"), encoding);
        let fields = with_arguments(request("POST"), &arguments);
        check(fields, &expect("POST /echo", &form(name), sent_form));
        let decoded = with_arguments(request("PUT"), &["né=aé€%E9%C3%A9+x y"]);
        check(decoded, &expect("PUT /echo", &form(name), sent_decoded));
        let body = raw(with_arguments(request("PATCH"), &[&format!("={LETTERS}")]));
        check(body, &expect("PATCH /echo", &text(name), sent_raw));
    }
    let wide = |method: &str, arguments: &[&str]| {
        encoded(
            with_arguments(request(method, "/echo"), arguments),
            "UTF-16LE",
        )
    };
    let units = |text: &str| -> String { text.chars().flat_map(|c| [c, '\0']).collect() };
    let sent_form = units("n%00%E9%00=a%00%E9%00%AC+%E9%C3%FD%FF+%00x%00+%00y%00");
    let expected = expect("POST /echo", &form("UTF-16LE"), &sent_form);
    check(wide("POST", &["né=aé€%E9%C3%A9+x y"]), &expected);
    let sent_raw = "a\0\u{e9}\0\u{ac} \u{e5}e=\u{d8}\0\u{de} \0+\0&\0%\x004\x001\0";
    let expected = expect("GET /echo", &text("UTF-16LE"), sent_raw);
    check(wide("GET", &[&format!("={LETTERS}")]), &expected);
}

#[test]
fn a_body_in_no_encoding_fails() {
    let url = "http://127.0.0.1:19741/echo";
    let blank = with_arguments(request("GET", "/echo"), &["!a=é"]);
    check_url(encoded(blank, " "), "GET /echo?a=%C3%A9", "/echo?a=%C3%A9");
    for (method, encoding, class) in [
        (
            "POST",
            "nosuch",
            "java.nio.charset.UnsupportedCharsetException",
        ),
        (
            "DELETE",
            "nosuch",
            "java.nio.charset.UnsupportedCharsetException",
        ),
        (
            "PUT",
            "no such",
            "java.nio.charset.IllegalCharsetNameException",
        ),
        ("POST", " ", "java.nio.charset.IllegalCharsetNameException"),
    ] {
        check_failure(
            encoded(request(method, "/echo"), encoding),
            class,
            encoding,
            url,
        );
    }
    for method in ["GET", "HEAD", "TRACE", "OPTIONS"] {
        let line = format!("{method} /echo");
        check_url(encoded(request(method, "/echo"), "nosuch"), &line, "/echo");
    }
}

/// A part's argument with its type.
fn part(name: &str, value: &str, media_type: &str) -> Argument<Template> {
    Argument {
        name: Template::literal(name),
        value: Template::literal(value),
        always_encode: false,
        use_equals: true,
        content_type: Template::literal(media_type),
    }
}

/// The body of a request of parts, with characters for bytes and `B` for its boundary.
fn parts(request: HttpRequest) -> String {
    let (sent, written) = send(request, None);
    assert_eq!(written, Ok(()));
    let text: String = sent.bytes.iter().copied().map(char::from).collect();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let (_, boundary) = head.split_once("boundary=").unwrap();
    let boundary = boundary.split(';').next().unwrap();
    let charset = head.split("charset=").nth(1).unwrap();
    let charset = charset.lines().next().unwrap();
    format!(
        "{charset}\n{}",
        body.replace(boundary, "B").replace("\r\n", "\n")
    )
}

#[test]
fn parts_are_in_the_content_encoding() {
    let mut request = encoded(request("POST", "/echo"), "ISO-8859-1");
    request.multipart = true;
    request.arguments = vec![
        part("né", "é€", "text/plain"),
        part("ct", "v€é", "text/x; charset=UTF-8"),
        part("c2", "é€", "text/x; a=b"),
    ];
    assert_eq!(
        parts(request.clone()),
        "ISO-8859-1\n--B\nContent-Disposition: form-data; name=\"n\u{c3}\u{a9}\"\n\
         Content-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: 8bit\n\n\
         \u{e9}?\n--B\nContent-Disposition: form-data; name=\"ct\"\n\
         Content-Type: text/x; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n\
         v\u{e2}\u{82}\u{ac}\u{c3}\u{a9}\n--B\nContent-Disposition: form-data; name=\"c2\"\n\
         Content-Type: text/x; a=b\nContent-Transfer-Encoding: 8bit\n\n??\n--B--\n"
    );
    request.browser_multipart = true;
    request.arguments.truncate(1);
    assert_eq!(
        parts(request),
        "ISO-8859-1\n--B\nContent-Disposition: form-data; name=\"n\u{e9}\"\n\n\u{e9}?\n--B--\n"
    );
}

/// A form with files, named by browsers' rules.
#[test]
fn file_names_of_browsers_have_numbers_for_what_the_encoding_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f€é日.txt");
    std::fs::write(&path, "x").unwrap();
    let name = |encoding: &str, browser: bool| {
        let mut request = encoded(request("POST", "/echo"), encoding);
        request.browser_multipart = browser;
        request.files = vec![weir_plan::FileUpload {
            path: Template::literal(path.to_str().unwrap()),
            parameter: Template::literal("p€"),
            media_type: Template::literal("text/plain"),
        }];
        let sent = parts(request);
        let (_, name) = sent.split_once("name=").unwrap();
        name.lines().next().unwrap().to_owned()
    };
    let utf8 = "\"p\u{e2}\u{82}\u{ac}\"; filename=\"f\u{e2}\u{82}\u{ac}\u{c3}\u{a9}\u{e6}\u{97}\u{a5}.txt\"";
    assert_eq!(name("ISO-8859-1", false), utf8);
    assert_eq!(name("", true), utf8);
    assert_eq!(
        name("ISO-8859-1", true),
        "\"p?\"; filename=\"f&#8364\u{e9}&#26085.txt\""
    );
    assert_eq!(
        name("US-ASCII", true),
        "\"p?\"; filename=\"f&#8364&#233&#26085.txt\""
    );
}

#[test]
fn results_show_the_library_s_url_of_automatic_redirects() {
    for (path, shown) in [
        ("//echo/a?b#c", "/echo/a?b"),
        ("/a#frag", "/a"),
        ("/ftp://x/y", "/ftp:/x/y"),
        ("http://u:p@127.0.0.1:19741/a", "/a"),
        ("http://127.0.0.1:19741?q", "/?q"),
    ] {
        let mut request = request("GET", path);
        request.auto_redirects = true;
        check_url(request, &format!("GET {shown}"), shown);
    }
}
