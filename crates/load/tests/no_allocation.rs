//! A request costs no allocation once a load has warmed up, and no request leaves anything behind.
//!
//! The whole process runs with an allocator that counts, except for what the test itself and its
//! server ask for. Two loads that differ in nothing but their length must differ in few
//! allocations: what is left is for each second, not for each request. Where requests or responses
//! have to be made anew, the most memory that two such loads hold must not differ either.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use socket2::SockRef;
use weir_load::{Length, LoadSettings, start};
use weir_plan::{
    Argument, Assertion, HttpRequest, Iterations, LoadPlan, Node, Position, SampleScope, Sampler,
    SizeAssertion, SizeField, Template, ThreadGroup,
};
use weir_script::{Origin, Properties, Target, resolve};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes that are held now, and the most that ever were, of all threads.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST_HELD: AtomicIsize = AtomicIsize::new(0);

/// Whoever counts is alone.
static ALONE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The thread is not the engine's.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
}

impl Counting {
    fn hold(bytes: isize) {
        let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
        MOST_HELD.fetch_max(held, Ordering::Relaxed);
    }

    fn count() {
        // A thread that is ending has no flag any more.
        if !IS_TEST.try_with(Cell::get).unwrap_or(true) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        Self::hold(layout.size().cast_signed());
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::hold(-(layout.size().cast_signed()));
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
        Self::hold(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller keeps the rules of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A server that answers whatever comes, without looking at it.
fn server() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        IS_TEST.set(true);
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                IS_TEST.set(true);
                let mut buffer = [0; 4096];
                let response = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\
                                 Content-Length: 5\r\nConnection: keep-alive\r\n\r\nhello";
                while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                    stream.write_all(response).unwrap();
                }
            });
        }
    });
    address
}

const USERS: u64 = 4;

fn text(text: &str) -> Template {
    Template::literal(text)
}

fn request(path: &str) -> HttpRequest {
    HttpRequest {
        host: text("192.0.2.1"),
        path: text(path),
        method: text("GET"),
        headers: vec![(text("Accept"), text("*/*"))],
        keep_alive: true,
        response_timeout_ms: text("30000"),
        ..HttpRequest::default()
    }
}

/// Some users run these steps until so many requests are sent; how many failed.
fn run(address: SocketAddr, requests: u64, steps: Vec<Sampler>) -> u64 {
    let rounds = requests / USERS / steps.len() as u64;
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups: vec![ThreadGroup {
            name: text("G"),
            users: Template::literal(USERS.to_string()),
            ramp_up_s: text("0"),
            iterations: Iterations::Count(Template::literal(rounds.to_string())),
            nodes: steps.into_iter().map(Node::from).collect(),
            ..ThreadGroup::default()
        }],
        ..LoadPlan::default()
    };
    let plan = resolve(&plan, &Properties::new(), Origin::default()).unwrap();
    let load = start(LoadSettings {
        plan,
        target: Some(Target::from(address)),
        allowed_hosts: Vec::new(),
        cpus: None,
        seed: 1,
        length: Length::AsPlanned,
        backs_off: false,
        samples_max: None,
        samples: None,
        origin: Instant::now(),
        started: SystemTime::now(),
    })
    .unwrap();
    // Seconds that nobody takes are kept.
    for second in load.seconds() {
        drop(second);
    }
    let summary = load.join(Duration::from_secs(300));
    assert_eq!(summary.samples, requests);
    summary.failed
}

/// Allocations of a load with this many requests.
fn allocations(address: SocketAddr, requests: u64) -> u64 {
    let steps = ["/a", "/b"].map(|path| Sampler::http(text(path), request(path)));
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    assert_eq!(run(address, requests, steps.into()), 0);
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

#[test]
fn a_request_allocates_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    IS_TEST.set(true);
    let address = server();
    let short = allocations(address, 2_000);
    let long = allocations(address, 22_000);
    let more = long.saturating_sub(short);
    assert!(
        more < 20_000 / 20,
        "20,000 requests more: {more} allocations more ({short} and {long} in all)"
    );
}

/// How much more a load holds at most that sends `10 × requests` rather than `requests`.
fn more_held(requests: u64, mut load: impl FnMut(u64)) -> isize {
    let mut most = |requests| {
        let before = HELD.load(Ordering::SeqCst);
        MOST_HELD.store(before, Ordering::SeqCst);
        load(requests);
        MOST_HELD.load(Ordering::SeqCst) - before
    };
    let short = most(requests);
    most(requests * 10) - short
}

/// Steps whose text changes from request to request, and whose responses are looked into.
#[test]
fn changing_steps_reuse_their_buffers() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    IS_TEST.set(true);
    let address = server();
    let more = more_held(2_000, |requests| {
        let mut step = Sampler::http(
            text("step"),
            HttpRequest {
                method: text("POST"),
                headers: vec![(text("X"), text("${__UUID}"))],
                raw_body: true,
                arguments: vec![Argument {
                    name: text(""),
                    value: text("${__RandomString(300,abc)}"),
                    always_encode: false,
                    use_equals: false,
                    content_type: Template::default(),
                }],
                ..request("/a?n=${__counter(FALSE)}")
            },
        );
        step.assertions.push(Assertion::Size(SizeAssertion {
            name: text("size"),
            scope: SampleScope::Main,
            field: SizeField::Body,
            operator: 1,
            size: text("5"),
            at: Position::default(),
        }));
        assert_eq!(run(address, requests, vec![step]), 0);
    });
    assert!(
        more < 18_000 * 64,
        "18,000 requests more hold {more} bytes more"
    );
}

/// What hostile servers send before they close the connection.
const HOSTILE: [&str; 14] = [
    "",
    "HTTP/1.1 20",
    "HTTP/1.1 200 OK\r\nContent-Le",
    "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 500 No\r\n\r\njunk",
    "\0\0\0\u{7f}\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://[::bad\r\nContent-Length: 0\r\n\r\n",
];

/// A server that misbehaves in each of these ways in turn; every third connection is reset.
fn hostile_server() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let huge = format!("HTTP/1.1 200 OK\r\nX: {}", "v".repeat(300_000));
    thread::spawn(move || {
        IS_TEST.set(true);
        let sent: Vec<&[u8]> = HOSTILE
            .iter()
            .map(|text| text.as_bytes())
            .chain([huge.as_bytes()])
            .collect();
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            // Whether the client still listens is its own business.
            let _ = stream.read(&mut request);
            let _ = stream.write_all(sent[at % sent.len()]);
            if at % 3 == 0 {
                let reset = Some(Duration::ZERO);
                SockRef::from(&stream).set_linger(reset).unwrap();
            }
        }
    });
    address
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn hostile_exchanges_leave_nothing_behind() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    IS_TEST.set(true);
    let address = hostile_server();
    let files = open_files();
    let load = |requests| {
        let mut request = request("/x");
        request.follow_redirects = true;
        let failed = run(address, requests, vec![Sampler::http(text("x"), request)]);
        // Few of the ways are answers all the same.
        assert!(failed > requests / 2, "{failed} of {requests} failed");
    };
    // What a process makes once is not left behind by exchanges.
    load(100);
    let held = HELD.load(Ordering::SeqCst);
    let more = more_held(1_000, load);
    assert!(
        more < 9_000 * 64,
        "9,000 exchanges more hold {more} bytes more"
    );
    let left = HELD.load(Ordering::SeqCst) - held;
    assert!(left < 4 * 1024, "{left} bytes are held after the loads");
    // The server closes its last connection in its own time.
    let until = Instant::now() + Duration::from_secs(30);
    while open_files() > files && Instant::now() < until {
        thread::yield_now();
    }
    assert_eq!(open_files(), files);
}
