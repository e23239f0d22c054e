//! `weir init` on a real nginx that runs already: its limits are read from its files, a command
//! changes one of them and reloads, the connections are counted from outside, and the file is as it
//! was.
//!
//! Runs in the *system* profile only (`WEIR_SYSTEM_TESTS=1`). It needs an nginx.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Place, funnel, json_file, names_in, signal_to, skipped, wait_for};
use rustix::process::Signal;

const STUDY: Duration = Duration::from_secs(120);

/// An nginx that nobody but the test knows.
struct UsersNginx {
    child: Child,
    port: u16,
}

impl UsersNginx {
    fn start(base: &Path) -> Self {
        fs::create_dir_all(base.join("html")).unwrap();
        fs::write(base.join("html/index.html"), "<p>a page</p>").unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = base.display();
        let configuration = format!(
            "worker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{\n  worker_connections 64;\n}}\n\
             http {{\n  access_log off;\n  keepalive_requests 10000000;\n  include site.conf;\n}}\n"
        );
        fs::write(base.join("nginx.conf"), configuration).unwrap();
        let site =
            format!("server {{ listen 127.0.0.1:{port} backlog=99; root {folder}/html; }}\n");
        fs::write(base.join("site.conf"), site).unwrap();
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"];
        let program = program.into_iter().find(|path| Path::new(path).is_file());
        let child = Command::new(program.unwrap_or("nginx"))
            .arg("-c")
            .arg(base.join("nginx.conf"))
            .args(["-g", "daemon off;"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(base.join("err")).unwrap())
            .spawn()
            .unwrap();
        let server = Self { child, port };
        wait_for("an nginx that answers", STUDY, || {
            let connected = std::net::TcpStream::connect(("127.0.0.1", port));
            connected.ok().map(drop)
        });
        server
    }
}

impl Drop for UsersNginx {
    fn drop(&mut self) {
        // Its workers end with it only when it is asked to end.
        signal_to(self.child.id(), Signal::TERM);
        let _ = self.child.wait();
    }
}

#[test]
fn a_users_nginx_is_recognised_set_and_left_as_it_was() {
    if skipped("a_users_nginx_is_recognised_set_and_left_as_it_was") {
        return;
    }
    let place = Place::new();
    let base = place.path("base");
    let server = UsersNginx::start(&base);
    let conf = base.join("nginx.conf");
    let before = fs::read_to_string(&conf).unwrap();
    let url = format!("http://127.0.0.1:{}/index.html", server.port);
    place.weir(&["init", &url]).ends(0).prints(&[
        "nginx/1.",
        &format!("process {}", server.child.id()),
        &format!("backlog 99 by hand backlog of listen ({}:1)", base.join("site.conf").display()),
        &format!(
            "connections 64 command worker_processes × worker_connections ({}:5, 64 of each of 1 worker)",
            conf.display()
        ),
    ]);
    // As a user takes the command in that is offered.
    let study = place.read("study.toml");
    let taken_in = ["# connections = ", "# [target.external.get]"];
    let lines = study.lines().map(|line| {
        let is_taken = taken_in.iter().any(|begin| line.starts_with(begin));
        line.strip_prefix("# ").filter(|_| is_taken).unwrap_or(line)
    });
    let study = lines.collect::<Vec<_>>().join("\n");
    let (head, _) = study.split_once("\n[find]\n").unwrap();
    let short = head.replace("window = \"auto\"", "window = \"5 s\"\nwarm-up = \"1 s\"")
        + "\n[sweep]\ndesign = \"full\"\n[sweep.factors]\nusers = [4]\nconnections = [80]\n";
    place.write("short.toml", &short);
    place.weir(&["check", "short.toml"]).ends(0);
    place.start(&["sweep", "short.toml"]).done(STUDY).ends(0);
    let run = &names_in(&place.path("weir-runs"))[0];
    let result = json_file(&place.path(&format!("weir-runs/{run}/result.json")));
    assert_eq!(
        funnel(&result),
        [
            ("backlog", Some(99.0), false),
            ("connections", Some(64.0), true),
        ]
    );
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        let open = trial["signals"]["connections.occupancy"].as_f64().unwrap();
        // Beside the users' four: the one that listens, and the channel to the first process.
        assert!((5.0..=7.0).contains(&open), "{trial:#}");
    }
    assert_eq!(
        fs::read_to_string(&conf).unwrap(),
        before,
        "as it was found"
    );
}
