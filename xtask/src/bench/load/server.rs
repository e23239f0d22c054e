//! The server of the bench: nginx with a configuration of our own, on a port that was free.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::load::{command, cost, write};
use crate::error::TaskError;

/// How long nginx may take to listen.
const START_MAX: Duration = Duration::from_secs(10);

/// A running nginx; it ends with this value.
#[derive(Debug)]
pub(crate) struct Nginx {
    child: Child,
    port: u16,
}

impl Nginx {
    /// Starts nginx; its files go below `directory`.
    pub(crate) fn start(directory: &Path, cpu: u32, real_time: bool) -> Result<Self, TaskError> {
        fs::create_dir_all(directory).map_err(|source| TaskError::File {
            doing: "write",
            path: directory.to_owned(),
            source,
        })?;
        let port = free_port()?;
        let file = directory.join("nginx.conf");
        write(&file, &configuration(directory, port))?;
        let words = ["nginx", "-p", &directory.to_string_lossy(), "-c"].map(str::to_owned);
        let words = [&words[..], &[file.to_string_lossy().into_owned()]].concat();
        let words = cost::pinned(&words, cpu, real_time);
        let child = command(&words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| TaskError::Start {
                command: words.join(" "),
                source,
            })?;
        let server = Self { child, port };
        server.wait_until_it_listens()?;
        Ok(server)
    }

    /// What tools request.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Requests that it has answered so far, this one included.
    pub(crate) fn requests(&self) -> Result<u64, TaskError> {
        let page = self.status_page().map_err(|source| TaskError::Start {
            command: "nginx".to_owned(),
            source,
        })?;
        requests_in(&page).ok_or_else(|| TaskError::Form {
            what: "nginx's status page".to_owned(),
            why: "it has no line with three counts".to_owned(),
        })
    }

    fn status_page(&self) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
        let mut page = String::new();
        stream.read_to_string(&mut page)?;
        Ok(page)
    }

    fn wait_until_it_listens(&self) -> Result<(), TaskError> {
        let until = Instant::now() + START_MAX;
        loop {
            match self.requests() {
                Err(error) if Instant::now() > until => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(5)),
                Ok(_) => return Ok(()),
            }
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on now.
fn free_port() -> Result<u16, TaskError> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    found
        .map(|address| address.port())
        .map_err(|source| TaskError::Start {
            command: "nginx".to_owned(),
            source,
        })
}

/// One process, no log of requests, connections kept for ever, nothing outside of the directory.
fn configuration(directory: &Path, port: u16) -> String {
    let directory = directory.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {directory}/{name};\n"))
        .concat();
    format!(
        "daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
worker_rlimit_nofile 20000;
events {{
  worker_connections 19000;
}}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
{temporary}  server {{
    listen 127.0.0.1:{port} backlog=16384;
    default_type text/plain;
    location / {{
      return 200 'hello';
    }}
    location = /status {{
      stub_status;
    }}
  }}
}}
"
    )
}

/// The third of three counts: connections accepted, connections handled, requests.
pub(crate) fn requests_in(page: &str) -> Option<u64> {
    page.lines().find_map(|line| {
        let counts: Vec<u64> = line
            .split_whitespace()
            .map(|count| count.parse().ok())
            .collect::<Option<_>>()?;
        match counts[..] {
            [_, _, requests] => Some(requests),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_the_third_count() {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 97\r\n\r\nActive connections: 1 \n\
                    server accepts handled requests\n 16 16 31070 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(requests_in(page), Some(31_070));
        assert_eq!(requests_in("HTTP/1.1 404 Not Found"), None);
    }
}
