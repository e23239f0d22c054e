//! What clients and users write, changed at random: no panic, and what must hold of each.

use http::Request;
use weir_fuzz::Target;

use crate::matching::{cookie, plain_path};
use crate::settings::Settings;

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
