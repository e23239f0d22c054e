//! Starting, stopping, and what is left behind.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use weir_sample::{Options, SampleError, Server};

use crate::client::{Client, all_answered, get, get_at_once, small, start};
use crate::scrape::Scrape;

#[test]
fn the_admin_endpoint_is_for_this_machine_only() {
    let options = Options {
        admin: "0.0.0.0:0".parse().unwrap(),
        ..small()
    };
    let error = Server::start(&options).err().unwrap();
    assert!(
        matches!(error, SampleError::AdminNotLoopback { .. }),
        "{error}"
    );
}

#[test]
fn a_taken_port_is_named() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap();
    for options in [
        Options {
            listen: taken,
            ..small()
        },
        Options {
            admin: taken,
            ..small()
        },
    ] {
        let error = Server::start(&options).err().unwrap();
        assert_eq!(error.to_string(), format!("listen on {taken}"));
    }
    drop(holder);
}

#[test]
fn dropping_frees_the_ports_and_closes_what_is_open() {
    let server = start(&small());
    let addresses = server.addresses();
    let mut idle = Client::connect(addresses.listen);
    assert_eq!(idle.get("/light").status, 200);
    drop(server);
    assert!(idle.receive().is_none());
    let again = start(&Options {
        listen: addresses.listen,
        admin: addresses.admin,
        ..small()
    });
    assert_eq!(get(again.addresses().listen, "/light").status, 200);
}

#[test]
fn two_servers_in_one_process_do_not_share_anything() {
    let (one, two) = (start(&small()), start(&small()));
    all_answered(get_at_once(one.addresses().listen, "/light", 5));
    Scrape::when(one.addresses().admin, |scrape| scrape.answered() == 5);
    assert_eq!(Scrape::of(two.addresses().admin).answered(), 0);
}

/// The example, run as a process, stops at a signal in the middle of a long request and leaves
/// nothing behind.
#[test]
fn a_signal_ends_the_process_at_once_with_code_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = Command::new(example())
            .args(["--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--rows=1000"])
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut addresses = line
            .split("http://")
            .skip(1)
            .map(|rest| rest.split(',').next().unwrap().trim());
        let (listen, admin) = (
            addresses.next().unwrap().parse().unwrap(),
            addresses.next().unwrap().parse().unwrap(),
        );
        assert_eq!(temporary.path().read_dir().unwrap().count(), 1);

        let long = thread::spawn(move || {
            let mut client = Client::connect(listen);
            client.send("GET /stress?searchTime=600000&bit=16 HTTP/1.1\r\nHost: test\r\n\r\n");
            client.receive().is_none()
        });
        Scrape::when(admin, |scrape| scrape.count("pool.db", "occupancy") == 1);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(long.join().unwrap());
        assert_eq!(temporary.path().read_dir().unwrap().count(), 0);
    }
}

/// Cargo builds the examples of a package before its tests, beside the directory of the test
/// program.
fn example() -> PathBuf {
    let test_program = std::env::current_exe().unwrap();
    let profile = test_program.parent().and_then(Path::parent).unwrap();
    profile.join("examples").join("sample-server")
}
