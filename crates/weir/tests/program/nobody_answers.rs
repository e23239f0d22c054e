//! Servers that are not there, before the load and in the middle of it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::Place;

/// An address at which nobody listens.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

#[test]
fn a_load_of_a_url_does_not_begin_where_nobody_answers() {
    let address = free();
    let says = format!("nobody answers at {address}: connection refused");
    let url = format!("http://{address}/");
    for more in [&["-c", "4"][..], &["--rate", "10/s"]] {
        Place::new()
            .weir(&[&["run", url.as_str()], more].concat())
            .ends(3)
            .says(&[&says, "start the server"]);
    }
}

#[test]
fn a_study_of_a_running_server_does_not_begin_where_nobody_answers() {
    let address = free();
    let place = Place::new();
    place.write(
        "study.toml",
        &format!(
            "schema = \"weir/study/1\"\n[target.external]\nurl = \"http://{address}\"\n[load]\nurl = \"/\"\n\
             window = \"5 s\"\nwarm-up = \"1 s\"\n[sweep]\ndesign = \"full\"\n[sweep.factors]\nusers = [1, 2]\n"
        ),
    );
    let says = format!("nobody answers at {address}: connection refused");
    place.weir(&["sweep", "study.toml"]).ends(3).says(&[&says]);
}

/// Takes connections until it is gone, does this with each, and closes it.
fn server(lives: Duration, serve: fn(&mut TcpStream)) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let until = Instant::now() + lives;
    let serving = thread::spawn(move || {
        while Instant::now() < until {
            let Ok((mut stream, _)) = listener.accept() else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            serve(&mut stream);
        }
    });
    (address, serving)
}

/// Answers one request.
fn answer(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let _ = stream.write_all(answer.as_bytes());
}

/// Without waiting, four users are refused some hundred thousand times in this time.
#[test]
fn users_wait_where_a_server_is_gone() {
    let (address, serving) = server(Duration::from_secs(2), answer);
    let url = format!("http://{address}/");
    let place = Place::new();
    let done = place.weir(&["run", &url, "-c", "4", "-d", "6s", "--json", "run.json"]);
    serving.join().unwrap();
    done.ends(4)
        .prints(&["nobody has answered from second", "was refused"]);
    let text = std::fs::read_to_string(place.path("run.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let errors = &result["trial"]["errors"];
    let failed = errors["count"].as_u64().unwrap();
    assert!((4..2_000).contains(&failed), "{errors}");
}

/// Without waiting, four users are turned away some ten thousand times in this time.
#[test]
fn users_wait_whose_connections_are_closed_without_an_answer() {
    let (address, serving) = server(Duration::from_secs(5), |_| {});
    let url = format!("http://{address}/");
    let place = Place::new();
    let run = ["run", &url, "-c", "4", "-d", "3s", "--json", "run.json"];
    place.weir(&run).ends_one_of(&[0, 1, 4]);
    serving.join().unwrap();
    let text = std::fs::read_to_string(place.path("run.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let errors = &result["trial"]["errors"];
    let failed = errors["count"].as_u64().unwrap();
    assert!((40..200).contains(&failed), "{errors}");
}
