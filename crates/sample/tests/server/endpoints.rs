//! What each endpoint answers, and what it refuses.

use std::time::{Duration, Instant};

use weir_sample::Options;

use crate::client::{Client, get, small, start};
use crate::scrape::Scrape;

#[test]
fn stress_holds_twice_computes_and_says_what_it_did() {
    let server = start(&small());
    let addresses = server.addresses();
    let began = Instant::now();
    let answer = get(
        addresses.listen,
        "/stress?searchTime=60&interval=20&duration=3&bit=64&updateTime=40",
    );
    assert!(began.elapsed() >= Duration::from_millis(160));
    assert_eq!(answer.status, 200);
    for line in [
        "searchTime = 60 ms",
        "interval = 20 ms",
        "duration = 3 times",
        "bit = 64",
        "updateTime = 40 ms",
        "form = as-intended",
        "second hold = 40 ms",
    ] {
        assert!(
            answer.body.lines().any(|said| said == line),
            "{line} is not in {}",
            answer.body
        );
    }
    let elapsed = answer
        .body
        .lines()
        .find_map(|line| line.strip_prefix("elapsed = ")?.strip_suffix(" ms"));
    let elapsed_ms: f64 = elapsed.unwrap().parse().unwrap();
    assert!((160.0..60_000.0).contains(&elapsed_ms));
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(scrape.count("pool.db", "entries_total"), 2);
    // Holding a connection runs no statement.
    assert_eq!(scrape.count("database", "entries_total"), 0);
}

#[test]
fn stress_as_published_forgets_the_second_hold() {
    let server = start(&small());
    let target = "/stress/hoge?updateTime=30000&form=as-published&bit=16";
    let answer = get(server.addresses().listen, target);
    assert!(
        answer
            .body
            .contains("updateTime = 30000 ms\nform = as-published\nsecond hold = 1 ms\n")
    );
}

#[test]
fn stress_takes_its_parameters_from_a_form_too() {
    let server = start(&small());
    let form = "searchTime=2&updateTime=3&interval=4&duration=5";
    let answer = Client::connect(server.addresses().listen).ask(&format!(
        "POST /stress/hoge?bit=32 HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{form}",
        form.len()
    ));
    let expected =
        "searchTime = 2 ms\ninterval = 4 ms\nduration = 5 times\nbit = 32\nupdateTime = 3 ms\n";
    assert!(answer.body.starts_with(expected), "{}", answer.body);
}

#[test]
fn light_computes() {
    let server = start(&small());
    assert_eq!(
        get(server.addresses().listen, "/light?n=25").body,
        "fibonacci(25) = 75025\n"
    );
    assert_eq!(
        get(server.addresses().listen, "/light").body,
        "fibonacci(20) = 6765\n"
    );
}

#[test]
fn heavy_walks_the_file() {
    let server = start(&small());
    let address = server.addresses().listen;
    let answer = get(address, "/heavy");
    // 650 items of five elements in one catalogue; id, kind and currency for each.
    assert!(
        answer
            .body
            .starts_with(r#"{"walks":100,"elements":3251,"attributes":1950,"text_bytes":"#),
        "{}",
        answer.body
    );
    let began = Instant::now();
    assert!(
        get(address, "/heavy?walks=3&pause-ms=20")
            .body
            .starts_with(r#"{"walks":3,"elements":3251,"#)
    );
    assert!(began.elapsed() >= Duration::from_millis(60));
}

#[test]
fn posts_come_from_the_database_through_the_pool() {
    let server = start(&small());
    let addresses = server.addresses();
    let ids = |target: &str| -> Vec<u64> {
        let answer: serde_json::Value =
            serde_json::from_str(&get(addresses.listen, target).body).unwrap();
        let posts = answer["posts"].as_array().unwrap();
        posts
            .iter()
            .map(|post| post["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids("/posts?size=3&page=2"), [9_961, 9_951, 9_941]);
    assert_eq!(ids("/posts").len(), 10);
    assert_eq!(ids("/posts?size=1000&page=2").len(), 0);
    assert_eq!(ids("/posts?board=3&size=1"), [9_992]);
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(
        (
            scrape.count("pool.db", "entries_total"),
            scrape.count("database", "entries_total")
        ),
        (4, 4)
    );
    assert_eq!(
        (
            scrape.count("pool.db", "occupancy"),
            scrape.count("database", "occupancy")
        ),
        (0, 0)
    );
}

#[test]
fn the_default_table_has_a_hundred_thousand_rows() {
    let server = start(&Options {
        rows: Options::default().rows,
        ..small()
    });
    let answer = get(server.addresses().listen, "/posts?size=1&page=10000");
    assert!(
        answer
            .body
            .starts_with(r#"{"board":2,"page":10000,"posts":[{"id":1,"#),
        "{}",
        answer.body
    );
}

#[test]
fn static_files_have_exactly_their_size() {
    let server = start(&small());
    for kib in [1, 2, 4, 8, 16] {
        let answer = get(server.addresses().listen, &format!("/static/{kib}k.txt"));
        assert_eq!((answer.status, answer.body.len()), (200, kib * 1024));
    }
}

#[test]
fn bad_parameters_are_named_with_what_is_accepted() {
    let server = start(&small());
    for (target, complaint) in [
        (
            "/stress?searchTime=600001",
            "parameter searchTime: \"600001\" is not accepted; give a whole number from 0 to 600000 (ms)",
        ),
        (
            "/stress?interval=-1",
            "parameter interval: \"-1\" is not accepted; give a whole number from 0 to 600000 (ms)",
        ),
        (
            "/stress?duration=often",
            "parameter duration: \"often\" is not accepted; give a whole number from 0 to 10000 (times)",
        ),
        (
            "/stress?bit=15",
            "parameter bit: \"15\" is not accepted; give a whole number from 16 to 8192 (bits)",
        ),
        (
            "/stress?updateTime=",
            "parameter updateTime: \"\" is not accepted; give a whole number from 0 to 600000 (ms)",
        ),
        (
            "/stress?form=fast",
            "parameter form: \"fast\" is not accepted; give one of: as-intended, as-published",
        ),
        (
            "/stress?updatetime=5",
            "parameter updatetime is not known here; accepted: searchTime, interval, duration, bit, updateTime, form",
        ),
        (
            "/stress?bit=64&bit=65",
            "parameter bit is given more than once",
        ),
        (
            "/light?n=46",
            "parameter n: \"46\" is not accepted; give a whole number from 0 to 45 (index of the number)",
        ),
        (
            "/heavy?walks=0",
            "parameter walks: \"0\" is not accepted; give a whole number from 1 to 10000 (times)",
        ),
        (
            "/heavy?pause-ms=60001",
            "parameter pause-ms: \"60001\" is not accepted; give a whole number from 0 to 60000 (ms after each walk)",
        ),
        (
            "/posts?size=0",
            "parameter size: \"0\" is not accepted; give a whole number from 1 to 1000 (posts)",
        ),
        (
            "/posts?page=0",
            "parameter page: \"0\" is not accepted; give a whole number from 1 to 1000000 (number of the page)",
        ),
        (
            "/posts?board=11",
            "parameter board: \"11\" is not accepted; give a whole number from 1 to 10 (number of the board)",
        ),
        (
            "/static/1k.txt?v=2",
            "parameter v is not known here; accepted: none",
        ),
    ] {
        let answer = get(server.addresses().listen, target);
        assert_eq!(
            (answer.status, answer.body.trim_end()),
            (400, complaint),
            "{target}"
        );
    }
    // What is refused has taken nothing.
    assert_eq!(
        Scrape::of(server.addresses().admin).count("pool.db", "entries_total"),
        0
    );
}

#[test]
fn unknown_paths_and_methods() {
    let server = start(&small());
    for target in [
        "/",
        "/stressed",
        "/static/3k.txt",
        "/static/../weir-sample.xml",
        "/static/",
        "/metrics",
    ] {
        assert_eq!(
            get(server.addresses().listen, target).status,
            404,
            "{target}"
        );
    }
    for (method, target, allow) in [
        ("POST", "/light", "GET"),
        ("PUT", "/stress", "GET, POST"),
        ("HEAD", "/posts", "GET"),
    ] {
        let mut client = Client::connect(server.addresses().listen);
        let answer = client.ask(&format!(
            "{method} {target} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n"
        ));
        assert_eq!(answer.status, 405);
        assert!(
            answer.head.contains(&format!("Allow: {allow}\r\n")),
            "{}",
            answer.head
        );
    }
}
