//! A request costs no allocation once a load has warmed up.
//!
//! The whole process runs with an allocator that counts, except for what the test itself and its
//! server ask for. Two loads that differ in nothing but their length must differ in few
//! allocations: what is left is for each second, not for each request.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use weir_load::{Length, LoadSettings, start};
use weir_plan::{HttpRequest, Iterations, LoadPlan, Node, Sampler, Template, ThreadGroup};
use weir_script::{Origin, Properties, Target, resolve};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The thread is not the engine's.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
}

impl Counting {
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
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
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

/// Allocations of a load with this many requests.
fn allocations(address: SocketAddr, requests: u64) -> u64 {
    const USERS: u64 = 4;
    let text = |text: &str| Template::literal(text);
    let step = |path: &str| -> Node {
        let request = HttpRequest {
            host: text("192.0.2.1"),
            path: text(path),
            method: text("GET"),
            headers: vec![(text("Accept"), text("*/*"))],
            keep_alive: true,
            response_timeout_ms: text("30000"),
            ..HttpRequest::default()
        };
        Sampler::http(text(path), request).into()
    };
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups: vec![ThreadGroup {
            name: text("G"),
            users: Template::literal(USERS.to_string()),
            ramp_up_s: text("0"),
            iterations: Iterations::Count(Template::literal((requests / USERS / 2).to_string())),
            nodes: vec![step("/a"), step("/b")],
            ..ThreadGroup::default()
        }],
        ..LoadPlan::default()
    };
    let plan = resolve(&plan, &Properties::new(), Origin::default()).unwrap();
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    let load = start(LoadSettings {
        plan,
        target: Some(Target::from(address)),
        allowed_hosts: Vec::new(),
        cpus: None,
        seed: 1,
        length: Length::AsPlanned,
        samples_max: None,
        samples: None,
        origin: Instant::now(),
        started: SystemTime::now(),
    });
    let summary = load.unwrap().join(Duration::from_secs(300));
    assert_eq!((summary.samples, summary.failed), (requests, 0));
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

#[test]
fn a_request_allocates_nothing() {
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
