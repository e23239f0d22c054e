//! What clients and users write, changed at random: no panic, and what must hold of each.

use http::Request;
use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};
use proxy_header::{ParseConfig, ProxyHeader};
use weir_fuzz::Target;

use crate::client::{ClientAddress, Named};
use crate::marks::Marks;
use crate::matching::{cookie, plain_path};
use crate::settings::{LogSettings, Settings, TrustedProxies};

const FILE: &[u8] =
    b"listen = \"127.0.0.1:1\"\nbackends = [\"http://a:1\"]\n[limit]\nrate = \"50/s\"\n\
    max-wait = \"200ms\"\n[limit.adaptive]\ngoal = \"p99 <= 3 ms\"\n[[class]]\nname = \"a\"\n\
    match = { path = \"/a*?[x]\", method = \"GET\", header = \"X: y*\", cookie = \"c=*d\", cost = \">= 5 ms\" }\n";

#[test]
fn fuzz_paths_cookies_and_files() {
    let target = Target {
        name: "gateway",
        seeds: &[
            FILE,
            b"/a/%2e%2E/b//c/./d?e",
            b"session=\"1\"; a = b;c;=;d==e",
        ],
        words: &[
            b"%2e",
            b"/../",
            b"//",
            b"%",
            b"\"",
            b";",
            b"=",
            b"*",
            b"/s",
            b"ms",
            b"[[class]]",
            b"${",
            b"}",
            b":-",
            b"{",
            b"}",
            b"\xff",
            b"\x00",
        ],
        length_max: 4096,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let plain = plain_path(&text);
        if text.starts_with('/') {
            assert!(plain.starts_with('/'), "{plain}");
            assert!(!plain.split('/').any(|segment| segment == ".."), "{plain}");
        }
        if let Some(value) = cookie(bytes, b"session") {
            assert!(!value.contains(&b';'));
        }
        let Ok(settings) = Settings::parse(&text) else {
            return;
        };
        let names = settings.class_names().len();
        let request = Request::builder()
            .uri("/a/b")
            .header("cookie", bytes)
            .body(());
        if let Ok(request) = request {
            let request = request.into_parts().0;
            for is_costly in [false, true] {
                assert!(settings.class_of(&request, |_| is_costly) < names);
            }
        }
        // What the file takes, the admission takes, or says why not.
        let _ = settings.check();
    });
}

/// What proxies in front tell of their clients, and of traces.
#[test]
fn fuzz_what_proxies_tell() {
    let target = Target {
        name: "proxies",
        seeds: &[
            b"8.8.8.8, 192.0.2.7:4711, [2001:db8::7]:1,10.0.0.9",
            b"for=\"[2001:db8::1]:1\";proto=https;host=\"a\\\"b\", For=10.0.0.1",
            b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            b"PROXY TCP4 192.0.2.7 10.0.0.1 12345 443\r\n",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14\xc0\0\x02\x07\x0a\0\0\x01\x30\x39\x01\xbb\x20\0\x05\x01\0\0\0\0",
        ],
        words: &[
            b"10.0.0.1", b"::1", b"for=", b"\"", b"\\", b",", b";", b"[", b"]", b":", b"PROXY ",
            b"TCP6 ", b"UNKNOWN", b"\r\n", b"\x21", b"\x31", b"\x20", b"\xff\xff",
        ],
        length_max: 4096,
    };
    let trusted = |header: HeaderName| TrustedProxies {
        networks: vec!["10.0.0.0/8".parse().expect("a network")],
        client_header: header,
        ..TrustedProxies::default()
    };
    let headers = [
        HeaderName::from_static("x-forwarded-for"),
        FORWARDED,
        HeaderName::from_static("traceparent"),
    ];
    let from = ClientAddress::Named("10.0.0.1".parse().expect("an address"));
    let log = LogSettings {
        trace_context: true,
        ..LogSettings::default()
    };
    target.run(|bytes| {
        if let Ok((header, length)) = ProxyHeader::parse(bytes, ParseConfig::default()) {
            assert!(length <= bytes.len());
            let _ = header.ssl().map(|ssl| ssl.client_ssl());
        }
        let Ok(value) = HeaderValue::from_bytes(bytes) else {
            return;
        };
        let mut told = HeaderMap::new();
        for name in &headers {
            told.insert(name.clone(), value.clone());
        }
        for name in &headers {
            let proxies = trusted(name.clone());
            let named = Named::find(&told, from, &proxies);
            let way = named.map_or_else(Vec::new, |named| named.way);
            // Nobody has told of them but those who are trusted.
            assert!(
                way.iter().skip(1).all(|ip| proxies.trusts(Some(*ip))),
                "{way:?}"
            );
        }
        let marks = Marks::find(&told, &log, false).expect("it is asked for");
        let trace = marks.trace().expect("each is part of one");
        assert_eq!((trace.id.len(), trace.span.len()), (32, 16));
    });
}
