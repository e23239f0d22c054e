//! The configuration of each gateway.

use std::path::Path;

use crate::bench::gate::backend::LIGHT;
use crate::bench::gate::peers::Hold;

/// Longest wait that Weir is told; also its default.
pub(super) const MAX_WAIT: &str = "200ms";
/// Requests that nginx lets wait.
pub(super) const NGINX_BURST: u32 = 100;
/// Open connections that each takes, and Weir's queue; beyond what the limit on open files leaves
/// room for.
const CONNECTIONS: u32 = 20_000;

/// Weir's; without the admin side, whose thread has nothing to do.
pub(super) fn weir(port: u16, backend: u16, hold: Hold) -> String {
    let limit = match hold {
        Hold::Nothing => String::new(),
        Hold::Rate(rate) => format!("rate = \"{rate}/s\"\nmax-wait = \"{MAX_WAIT}\"\n"),
        Hold::Concurrency(limit, wait) => format!(
            "concurrency = {limit}\nmax-queue = {CONNECTIONS}\nmax-wait = \"{}ms\"\n",
            wait.as_millis()
        ),
        Hold::Adaptive => {
            format!("max-wait = \"{MAX_WAIT}\"\n[limit.adaptive]\ngoal = \"best throughput\"\n")
        }
        Hold::Cpu(goal) => format!("[limit.adaptive]\ngoal = \"cpu <= {goal} %\"\n"),
        Hold::Classes => format!(
            "max-wait = \"{MAX_WAIT}\"\n[limit.adaptive]\ngoal = \"best throughput\"\n\
             [[class]]\nname = \"light\"\nmatch = {{ path = \"{}\" }}\npromise = \"p99 <= 40 ms\"\n\
             [[class]]\nname = \"heavy\"\n",
            LIGHT.split('?').next().unwrap_or(LIGHT)
        ),
    };
    format!(
        "listen = \"127.0.0.1:{port}\"\nbackends = [\"http://127.0.0.1:{backend}\"]\nadmin = false\nthreads = 1\n[limit]\n{limit}"
    )
}

/// What is counted has a name: requests without one would not be counted at all.
pub(super) fn nginx(directory: &Path, port: u16, backend: u16, hold: Hold) -> String {
    let (zone, limit) = match hold {
        Hold::Rate(rate) => (
            format!("  limit_req_zone $server_name zone=all:1m rate={rate}r/s;\n"),
            format!("      limit_req zone=all burst={NGINX_BURST};\n"),
        ),
        Hold::Concurrency(limit, _) => (
            "  limit_conn_zone $server_name zone=all:1m;\n".to_owned(),
            format!("      limit_conn all {limit};\n"),
        ),
        Hold::Nothing | Hold::Adaptive | Hold::Cpu(_) | Hold::Classes => {
            (String::new(), String::new())
        }
    };
    let inside = format!(
        "{zone}  upstream server {{ server 127.0.0.1:{backend}; keepalive 64; }}\n\
         \x20 server {{\n    listen 127.0.0.1:{port} backlog=16384;\n    server_name bench;\n    location / {{\n{limit}\
         \x20     proxy_pass http://server;\n      proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n"
    );
    nginx_file(directory, &inside)
}

/// A server that answers everything at once.
pub(super) fn nginx_server(directory: &Path, port: u16) -> String {
    let inside = format!(
        "  server {{\n    listen 127.0.0.1:{port} backlog=16384;\n    default_type text/plain;\n\
         \x20   location / {{ return 200 'hello'; }}\n    location = /status {{ stub_status; }}\n  }}\n"
    );
    nginx_file(directory, &inside)
}

/// One process, no log of requests, connections kept for ever, nothing outside of the directory.
fn nginx_file(directory: &Path, inside: &str) -> String {
    let directory = directory.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {directory}/{name};\n"))
        .concat();
    format!(
        "daemon off;\nmaster_process off;\npid {directory}/nginx.pid;\nerror_log {directory}/error.log;\n\
         worker_rlimit_nofile {CONNECTIONS};\nevents {{ worker_connections {}; }}\n\
         http {{\n{temporary}  access_log off;\n  keepalive_requests 1000000000;\n  keepalive_timeout 1h;\n{inside}}}\n",
        CONNECTIONS - 500
    )
}

/// `timeout queue` is how long a request waits for a slot.
pub(super) fn haproxy(port: u16, backend: u16, hold: Hold) -> String {
    let counted = match hold {
        Hold::Rate(rate) => format!(
            "\x20 stick-table type integer size 10 expire 1m store gpc0,gpc0_rate(1s)\n\
             \x20 http-request track-sc0 int(1)\n\
             \x20 http-request deny deny_status 429 if {{ sc0_gpc0_rate ge {rate} }}\n\
             \x20 http-request sc-inc-gpc0(0)\n"
        ),
        _ => String::new(),
    };
    let (queue, limit) = match hold {
        Hold::Concurrency(limit, wait) => (
            format!("  timeout queue {}ms\n", wait.as_millis()),
            format!(" maxconn {limit}"),
        ),
        _ => (String::new(), String::new()),
    };
    // Its default is half of the open files that it may have.
    format!(
        "global\n  nbthread 1\n  maxconn {}\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 300s\n  timeout server 300s\n{queue}\
         frontend front\n  bind 127.0.0.1:{port} backlog 16384\n{counted}  default_backend server\n\
         backend server\n  server one 127.0.0.1:{backend}{limit}\n",
        CONNECTIONS / 2 - 100
    )
}
