//! Names that become something else between the check and the connection, with a real resolver and
//! a real public address, in a network of its own on this machine.
//!
//! A name answers near (127.0.0.1) so often, and from then on far (203.0.113.7, RFC 5737, which the
//! test's own loopback interface has). Whatever way it is led to, nothing may arrive there.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::reach::http;
use crate::support::Place;

const FAR: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 7);
/// Says that this process runs in a network of its own.
const LONELY: &str = "WEIR_TEST_IN_A_NETWORK_OF_ITS_OWN";

/// Runs a test of this program once more in a network and with a resolver of its own. True in
/// there.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_lonely(test: &str) -> bool {
    if std::env::var_os(LONELY).is_some() {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let resolver = folder.path().join("resolv.conf");
    fs::write(&resolver, "nameserver 127.0.0.1\noptions timeout:1\n").unwrap();
    let order = folder.path().join("nsswitch.conf");
    fs::write(&order, "hosts: files dns\n").unwrap();
    let script = "ip link set lo up && ip address add 203.0.113.7/32 dev lo && \
                  mount --bind \"$1\" /etc/resolv.conf && mount --bind \"$2\" /etc/nsswitch.conf && \
                  shift 2 && exec \"$@\"";
    let output = Command::new("unshare")
        .args([
            "--net",
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .args([&resolver, &order])
        .arg(std::env::current_exe().unwrap())
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

/// A resolver that answers for `near-N-of-…`: near so often, then far. It counts what it was asked.
fn resolver() {
    let socket = UdpSocket::bind("127.0.0.1:53").unwrap();
    thread::spawn(move || {
        let mut asked: HashMap<String, u32> = HashMap::new();
        let mut bytes = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            let Some((name, kind, end)) = question(&bytes[..length]) else {
                continue;
            };
            let times = name
                .strip_prefix("near-")
                .and_then(|rest| rest.split_once('-'));
            let times = times.and_then(|(times, _)| times.parse::<u32>().ok());
            let mut answer = bytes[..end].to_vec();
            // RFC 1035, section 4.1.1: an answer with recursion; then how many of each there are.
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            answer[4..12].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
            match times {
                None => answer[3] = 0x83,
                Some(times) if kind == 1 => {
                    let before = asked.entry(name).or_default();
                    let address = if *before < times {
                        Ipv4Addr::LOCALHOST
                    } else {
                        FAR
                    };
                    *before += 1;
                    answer[7] = 1;
                    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                    answer.extend(address.octets());
                }
                Some(_) => {}
            }
            socket.send_to(&answer, from).unwrap();
        }
    });
}

/// The name that is asked for, the type of its record, and where the question ends.
fn question(message: &[u8]) -> Option<(String, u16, usize)> {
    let mut at = 12;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + length)?).into_owned());
        at += length;
    }
    let kind = message.get(at..at + 2)?;
    Some((
        labels.join("."),
        u16::from_be_bytes([kind[0], kind[1]]),
        at + 4,
    ))
}

/// A server that keeps the first lines that it gets, and leads to the name that a path holds.
fn server(listener: TcpListener) -> Arc<Mutex<Vec<String>>> {
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let into = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let into = Arc::clone(&into);
            thread::spawn(move || {
                let mut stream = stream;
                // A connection without a word counts, too.
                let patience = Duration::from_millis(500);
                stream.set_read_timeout(Some(patience)).unwrap();
                let mut bytes = [0; 4096];
                let length = stream.read(&mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..length]);
                let first = request.lines().next().unwrap_or_default().to_owned();
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                into.lock().unwrap().push(first);
                let answer = if let Some(name) = path.strip_prefix("/to/") {
                    format!(
                        "HTTP/1.1 302 Found\r\nLocation: http://{name}:{port}/hit\r\nContent-Length: 0\r\n"
                    )
                } else if let Some(name) = path.strip_prefix("/page/") {
                    let body = format!("<img src=\"http://{name}:{port}/hit\">");
                    let length = body.len();
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                    )
                } else {
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".to_owned()
                };
                let end = if answer.contains("\r\n\r\n") {
                    ""
                } else {
                    "Connection: close\r\n\r\n"
                };
                let _ = stream.write_all(format!("{answer}{end}").as_bytes());
            });
        }
    });
    heard
}

/// Steps that lead to `NAME`, by their way; `PORT` is where both servers listen.
fn ways() -> Vec<(&'static str, String)> {
    let of = |host: &str, path: &str, more: &str| {
        http(
            path,
            &format!(
                "<stringProp name=\"HTTPSampler.domain\">{host}</stringProp>\
                 <stringProp name=\"HTTPSampler.port\">PORT</stringProp>\
                 <boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>{more}"
            ),
        )
    };
    let embeds = "<boolProp name=\"HTTPSampler.image_parser\">true</boolProp>";
    let proxy = "<stringProp name=\"HTTPSampler.proxyHost\">NAME</stringProp>\
                 <stringProp name=\"HTTPSampler.proxyPort\">PORT</stringProp>";
    let figures = "<BackendListener testname=\"b\"><elementProp name=\"arguments\" elementType=\"Arguments\">\
                   <collectionProp name=\"Arguments.arguments\">\
                   <elementProp name=\"influxdbUrl\" elementType=\"Argument\">\
                   <stringProp name=\"Argument.name\">influxdbUrl</stringProp>\
                   <stringProp name=\"Argument.value\">http://NAME:PORT/write?db=x</stringProp></elementProp>\
                   <elementProp name=\"influxdbMetricsSender\" elementType=\"Argument\">\
                   <stringProp name=\"Argument.name\">influxdbMetricsSender</stringProp>\
                   <stringProp name=\"Argument.value\">org.apache.jmeter.visualizers.backend.influxdb.HttpMetricsSender</stringProp>\
                   </elementProp></collectionProp></elementProp>\
                   <stringProp name=\"classname\">org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient</stringProp>\
                   </BackendListener><hashTree/>";
    vec![
        ("the plan's own host", of("NAME", "/hit", "")),
        (
            "a host found at run time",
            of("${__javaScript('NAME')}", "/hit", ""),
        ),
        ("a redirect", of("127.0.0.1", "/to/NAME", "")),
        ("what a page embeds", of("127.0.0.1", "/page/NAME", embeds)),
        ("a proxy", of("127.0.0.1", "/hit", proxy)),
        (
            "a backend listener",
            figures.to_owned() + &of("127.0.0.1", "/hit", ""),
        ),
    ]
}

#[test]
fn names_that_change_lead_nowhere_else() {
    if !is_lonely("changing_names::names_that_change_lead_nowhere_else") {
        return;
    }
    resolver();
    let near = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = near.local_addr().unwrap().port();
    let far = server(TcpListener::bind((FAR, port)).unwrap());
    let near = server(near);
    let place = Place::new();
    let run = |name: &str, steps: &str, more: &[&str]| {
        let steps = steps
            .replace("NAME", name)
            .replace("PORT", &port.to_string());
        place.write(
            "p.jmx",
            &format!(
                "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
                 <ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
                 <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
                 <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
                 <stringProp name=\"LoopController.loops\">2</stringProp></elementProp></ThreadGroup>\
                 <hashTree>{steps}</hashTree></hashTree></hashTree></jmeterTestPlan>"
            ),
        );
        let done = place.weir(&[&["run", "-n", "-t", "p.jmx"], more].concat());
        let heard = |by: &Mutex<Vec<String>>| std::mem::take(&mut *by.lock().unwrap());
        (done, heard(&near), heard(&far))
    };
    for (number, (way, steps)) in ways().into_iter().enumerate() {
        // With the name allowed it arrives: what is tried is a way that leads there.
        let name = format!("near-0-allowed-{number}.test");
        let (done, _, heard) = run(&name, &steps, &["--allow-host", &name]);
        assert!(!heard.is_empty(), "{way}: {done}");
        // As often near as the name is looked up before, or less, or more.
        for times in 0..5 {
            let name = format!("near-{times}-of-{number}.test");
            let (done, _, heard) = run(&name, &steps, &[]);
            assert_eq!(heard, [""; 0], "{way}, near {times} times: {done}");
        }
        let name = format!("near-99-of-{number}.test");
        let (done, heard, _) = run(&name, &steps, &[]);
        let hit = heard
            .iter()
            .any(|line| line.contains("hit") || line.contains("write"));
        assert!(hit, "{way}: {heard:?} {done}");
    }
}
