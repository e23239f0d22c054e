//! Where responses lead, and where they must not.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use weir_plan::{EmbeddedResources, FileUpload, Sampler};
use weir_record::SampleRow;

use crate::server::{Reply, Seen, Server, response};
use crate::support::{get, group, request_of, run, settings, text};

fn redirect(to: &str) -> Reply {
    let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    Reply::Send(head.into_bytes())
}

fn page(body: &str) -> Reply {
    let length = body.len();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    Reply::Send(format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes())
}

fn following(path: &str) -> Sampler {
    let mut step = get(path);
    request_of(&mut step).follow_redirects = true;
    step
}

fn embedding(path: &str, parallel: Option<&str>) -> Sampler {
    let mut step = following(path);
    request_of(&mut step).embedded = Some(EmbeddedResources {
        matching: text(""),
        excluding: text(""),
        parallel: parallel.map(text),
    });
    step
}

fn rows(server: &Server, step: Sampler) -> Vec<SampleRow> {
    run(settings(server, vec![group(1, vec![step])])).rows
}

#[test]
fn one_sample_stands_for_all_hops() {
    let server = Server::start(|seen: &Seen| match seen.path() {
        "/a" => redirect("/b"),
        _ => Reply::Send(response("200 OK", "hello")),
    });
    let done = run(settings(&server, vec![group(1, vec![following("/a")])]));
    assert_eq!((done.summary.samples, done.summary.failed), (1, 0));
    let labels: Vec<&str> = done.rows.iter().map(|row| &*row.label).collect();
    assert_eq!(labels, ["/a", "/a-0", "/a-1"]);
    let [whole, first, second] = &done.rows[..] else {
        panic!("{labels:?}");
    };
    assert_eq!(
        whole.received_bytes,
        first.received_bytes + second.received_bytes
    );
    assert_eq!(done.summary.received_bytes, whole.received_bytes);
    assert_eq!(
        whole.elapsed_ms,
        second.timestamp_ms + second.elapsed_ms - first.timestamp_ms
    );
    assert_eq!(server.paths(), ["/a", "/b"]);
    assert_eq!(server.connections(), 1);
}

#[test]
fn redirects_are_counted_followed_or_not() {
    let server = Server::start(|seen: &Seen| match seen.path() {
        "/a" => redirect("/b"),
        "/fresh" => Reply::Send(response("304 Not Modified", "")),
        _ => Reply::Send(response("200 OK", "hello")),
    });
    let redirected = |step: Sampler| {
        let done = run(settings(&server, vec![group(1, vec![step])]));
        assert_eq!((done.summary.samples, done.summary.failed), (1, 0));
        let counts = done.seconds.iter().filter_map(|second| second.redirected);
        counts.sum::<u64>()
    };
    let mut automatic = get("/a");
    request_of(&mut automatic).auto_redirects = true;
    assert_eq!(redirected(following("/a")), 1);
    assert_eq!(redirected(automatic), 1);
    assert_eq!(redirected(get("/a")), 1, "what is not followed too");
    assert_eq!(redirected(get("/b")), 0);
    assert_eq!(redirected(get("/fresh")), 0, "not modified is no redirect");
}

/// A documentation address (RFC 5737) is a public one; nothing is sent to it.
#[test]
fn a_public_server_is_not_asked_unless_it_is_allowed() {
    let server = Server::start(|_| redirect("http://203.0.113.7:9/x"));
    let rows = rows(&server, following("/a"));
    let [whole, first, refused] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!((whole.success, first.success), (false, true));
    for row in [whole, refused] {
        assert_eq!(
            &*row.response_code,
            "Non HTTP response code: weir.NotAllowed"
        );
        let says = "Non HTTP response message: 203.0.113.7 has the public address 203.0.113.7";
        assert!(row.response_message.starts_with(says), "{row:?}");
        assert_eq!(&*row.url, "http://203.0.113.7:9/x");
    }
    assert_eq!((refused.connect_ms, refused.sent_bytes), (0, 0));
}

/// Says that a test runs in a network of its own.
const LONELY: &str = "WEIR_TEST_IN_A_NETWORK_OF_ITS_OWN";

/// Runs a test of this program once more in a network that has a loopback interface and no way out,
/// so that a test that fails sends nothing either. True in there.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_lonely(test: &str) -> bool {
    if std::env::var_os(LONELY).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let script = "ip link set lo up && exec \"$0\" \"$@\"";
    let output = Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", script])
        .arg(program)
        .args([test, "--exact", "--nocapture"])
        .env(LONELY, "1")
        .output()
        .unwrap();
    let says = String::from_utf8_lossy(&output.stderr);
    if says.contains("unshare failed") && !rustix::process::geteuid().is_root() {
        eprintln!("skipped: no network of its own without root: {says}");
        return false;
    }
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{says}");
    assert!(told.contains("1 passed"), "{told}");
    false
}

/// Where clouds tell a machine its keys, in all the ways to write it.
#[test]
fn no_redirect_leads_to_link_local_addresses() {
    if !is_lonely("follows::no_redirect_leads_to_link_local_addresses") {
        return;
    }
    for host in [
        "169.254.169.254",
        "169.254.169.254.",
        "2852039166",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "[fe80::1]",
        "[fe80::1%lo]",
        "[fe80::1%25lo]",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
        "[64:ff9b::169.254.169.254]",
        "[fd00:ec2::254]",
    ] {
        let to = format!("http://{host}:9/latest");
        let link = page(&format!("<img src=\"{to}\">"));
        let replies = [redirect(&to), link];
        for reply in replies {
            let Reply::Send(bytes) = reply else {
                continue;
            };
            let server = Server::start(move |_| Reply::Send(bytes.clone()));
            let rows = rows(&server, embedding("/a", None));
            let last = rows.last().unwrap();
            assert!(!last.success, "{host}: {last:?}");
            // A name that is none is not asked either; everything else is refused unasked.
            let is_unasked = [
                "weir.NotAllowed",
                "URISyntax",
                "UnknownHost",
                "MalformedURL",
            ];
            let code = &last.response_code;
            assert!(
                is_unasked.iter().any(|way| code.contains(way)),
                "{host}: {last:?}"
            );
            assert_eq!((last.connect_ms, last.sent_bytes), (0, 0), "{host}");
        }
    }
}

/// What the user was asked about may have become something else: the load judges again what it
/// connects to.
#[test]
fn a_planned_server_is_judged_where_it_is_looked_up() {
    let server = Server::good();
    let start = |target: &str, allowed: &[&str]| {
        let mut settings = settings(&server, vec![group(1, vec![get("/")])]);
        settings.target = Some(target.parse().unwrap());
        settings.allowed_hosts = allowed.iter().map(|host| (*host).to_owned()).collect();
        weir_load::start(settings)
    };
    for target in ["http://169.254.169.254:9", "http://[fe80::1]:9"] {
        let refused = start(target, &[]).unwrap_err();
        assert!(
            matches!(refused, weir_load::LoadError::NotAllowed(_)),
            "{refused}"
        );
    }
    let local = format!("http://{}", server.address);
    start(&local, &[]).unwrap().stop();
}

#[test]
fn with_a_target_the_plans_own_host_is_the_target() {
    // The host of every step of these tests.
    let server = Server::start(|seen: &Seen| match seen.path() {
        "/a" => redirect("http://192.0.2.1:81/b?c"),
        _ => Reply::Send(response("200 OK", "hello")),
    });
    let rows = rows(&server, following("/a"));
    assert!(rows[0].success, "{rows:?}");
    assert_eq!(*rows[0].url, format!("http://{}/b?c", server.address));
    assert_eq!(server.paths(), ["/a", "/b?c"]);
}

#[test]
fn another_server_of_this_machine_is_asked() {
    let other = Server::good();
    let to = format!("http://{}/there", other.address);
    let server = Server::start(move |_| redirect(&to));
    let rows = rows(&server, following("/a"));
    assert!(rows[0].success, "{rows:?}");
    assert_eq!(other.paths(), ["/there"]);
}

#[test]
fn as_many_resources_at_once_as_the_plan_says() {
    let images: Vec<String> = (0..9).map(|n| format!("<img src=/i{n}>")).collect();
    let images = images.concat();
    let server = Server::start(move |seen: &Seen| match seen.path() {
        "/page" => page(&images),
        _ => Reply::Late(Duration::from_millis(30), response("200 OK", "image")),
    });
    let done = run(settings(
        &server,
        vec![group(
            1,
            vec![embedding("/page", Some("3")), embedding("/page", None)],
        )],
    ));
    assert_eq!((done.summary.samples, done.summary.failed), (2, 0));
    let seen = server.seen();
    let (at_once, one_by_one) = seen.split_at(10);
    let connections =
        |seen: &[Seen]| -> BTreeSet<usize> { seen.iter().map(|seen| seen.connection).collect() };
    assert_eq!(connections(at_once).len(), 3);
    assert_eq!(connections(one_by_one).len(), 1);
    // Whatever comes first, the parts are in the order of the page.
    let urls: Vec<&str> = done.rows[2..11].iter().map(|row| &*row.url).collect();
    let expected: Vec<String> = (0..9)
        .map(|n| format!("http://{}/i{n}", server.address))
        .collect();
    assert_eq!(urls, expected);
}

#[test]
fn a_large_file_goes_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    let mut file = std::fs::File::create(&path).unwrap();
    let line = [b'x'; 1023];
    for _ in 0..3_000 {
        file.write_all(&line).unwrap();
    }
    drop(file);
    let server = Server::good();
    let mut step = get("/upload");
    let request = request_of(&mut step);
    request.method = text("PUT");
    request.files = vec![FileUpload {
        path: text(path.display()),
        parameter: text(""),
        media_type: text("text/x"),
    }];
    let rows = rows(&server, step);
    assert!(rows[0].success, "{rows:?}");
    let seen = server.seen();
    assert_eq!(seen[0].body.len(), 3_000 * 1023);
    assert_eq!(seen[0].field("Content-Type"), Some("text/x"));
    assert_eq!(
        rows[0].sent_bytes,
        (seen[0].head.len() + seen[0].body.len()) as u64
    );
}
