//! An nginx: the directives that bound it, found in its configuration files.
//!
//! Facts of nginx that stand behind the figures (manual, `ngx_http_core_module`, `ngx_core_module`,
//! `ngx_connection.c`): each worker process has `worker_connections` connections, those to
//! servers behind included, and no more files than its limit of open files; a connection for which
//! there is no place is closed.

use std::path::{Path, PathBuf};

use super::found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, OccupancyWay, SetWay};
use super::liberty::quoted;
use crate::machine::Machine;
use crate::nginx::{Reading, Statement};
use crate::process::ProcessFacts;

const PROGRAM: &str = "nginx";
const MASTER: &str = "nginx: master process ";
const WORKER: &str = "nginx: worker process";
/// Where builds have their main file when they do not say it.
const USUAL: [&str; 4] = [
    "/etc/nginx/nginx.conf",
    "/usr/local/nginx/conf/nginx.conf",
    "/usr/local/etc/nginx/nginx.conf",
    "/opt/nginx/conf/nginx.conf",
];
/// Most problems of a configuration that are told.
const PROBLEMS_SHOWN: usize = 5;
const DEFAULT_CONNECTIONS: u64 = 512;
const DEFAULT_BACKLOG: u64 = 511;

pub(super) fn recognise(facts: &ProcessFacts, port: u16, machine: &Machine) -> Option<Found> {
    if facts.program_name() != PROGRAM {
        return None;
    }
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::Nginx,
        name: PROGRAM.to_owned(),
        limits: Vec::new(),
        metrics: None,
        occupancy: OccupancyWay::Connections,
        agent: AgentWay::NoJvm,
        notes: Vec::new(),
    };
    let built = match machine.ask_program("-V", facts) {
        Ok(says) => Built::of(&says),
        Err(why) => {
            found.notes.push(format!(
                "its version and where its configuration is are not asked of its program: {why}"
            ));
            Built::default()
        }
    };
    if let Some(version) = &built.version {
        found.name = format!("nginx/{version}");
    }
    let typed = Typed::of(facts);
    let Some(main) = typed.main_file(&built, facts, machine) else {
        found.notes.push(
            "its main configuration file is not where builds have it, and no option -c names it: its limits are not known"
                .to_owned(),
        );
        return Some(found);
    };
    let reading = Reading::of(&main, &typed.directives, machine);
    let problems = reading.problems.iter().take(PROBLEMS_SHOWN);
    found.notes.extend(
        problems.map(|problem| format!("{problem}: limits that may be set there are not known")),
    );
    let server = Nginx {
        reading: &reading,
        facts,
        machine,
        port,
        reload: typed.reload(facts),
        workers: workers(facts.pid, machine),
    };
    server.tell(&mut found);
    Some(found)
}

/// What `-V` says.
#[derive(Debug, Default)]
struct Built {
    version: Option<String>,
    prefix: Option<PathBuf>,
    file: Option<PathBuf>,
}

impl Built {
    fn of(says: &str) -> Self {
        let option = |name: &str| {
            let mut words = says.split_whitespace();
            words.find_map(|word| word.strip_prefix(name).map(PathBuf::from))
        };
        let version = says.lines().find_map(|line| line.split_once("nginx/"));
        Self {
            version: version
                .and_then(|(_, rest)| rest.split_whitespace().next())
                .map(str::to_owned),
            prefix: option("--prefix="),
            file: option("--conf-path="),
        }
    }
}

/// What its command line says. nginx writes its title over it, so that its words may stand in one.
#[derive(Debug, Default)]
struct Typed {
    prefix: Option<String>,
    file: Option<String>,
    directives: String,
}

impl Typed {
    fn of(facts: &ProcessFacts) -> Self {
        let line = facts.words.join(" ");
        let line = line.strip_prefix(MASTER).unwrap_or(&line);
        let mut words = line.split_whitespace().skip(1).peekable();
        let mut typed = Self::default();
        while let Some(word) = words.next() {
            match word {
                "-c" => typed.file = words.next().map(str::to_owned),
                "-p" => typed.prefix = words.next().map(str::to_owned),
                // Its quotes are gone: it goes on up to the next option.
                "-g" => {
                    let mut directives = Vec::new();
                    while let Some(word) = words.next_if(|word| !word.starts_with('-')) {
                        directives.push(word);
                    }
                    typed.directives = directives.join(" ");
                }
                _ => {}
            }
        }
        typed
    }

    /// The main file, as nginx finds it: a relative name counts from the prefix.
    fn main_file(&self, built: &Built, facts: &ProcessFacts, machine: &Machine) -> Option<PathBuf> {
        let prefix = self.prefix.as_ref().map(|prefix| facts.absolute(prefix));
        let prefix = prefix.or_else(|| built.prefix.clone());
        let within = |file: &Path| match &prefix {
            Some(prefix) => prefix.join(file),
            None => file.to_owned(),
        };
        let named = self.file.as_ref().map(|file| within(Path::new(file)));
        let built_in = || built.file.as_deref().map(within);
        let of_prefix = || prefix.as_ref().map(|prefix| prefix.join("conf/nginx.conf"));
        let named = named.or_else(built_in).or_else(of_prefix);
        named.filter(|file| machine.is_file(file)).or_else(|| {
            let usual = USUAL.into_iter().map(PathBuf::from);
            usual.into_iter().find(|file| machine.is_file(file))
        })
    }

    /// The command that makes it read its files again.
    fn reload(&self, facts: &ProcessFacts) -> String {
        let mut command = quoted(&facts.program);
        for (option, value) in [("-p", &self.prefix), ("-c", &self.file)] {
            if let Some(value) = value {
                let value = facts.absolute(value);
                command = format!("{command} {option} {}", quoted(&value));
            }
        }
        format!("{command} -s reload")
    }
}

/// What is seen of the worker processes.
#[derive(Debug, Clone, Copy)]
struct Workers {
    count: u64,
    /// Most files that one may open.
    files: Option<u64>,
}

fn workers(parent: u32, machine: &Machine) -> Option<Workers> {
    let children = machine.text(&PathBuf::from(format!(
        "/proc/{parent}/task/{parent}/children"
    )))?;
    let is_worker = |pid: &&str| {
        let line = machine.bytes(&PathBuf::from(format!("/proc/{pid}/cmdline")));
        line.is_ok_and(|line| {
            let line = String::from_utf8_lossy(&line);
            // Words of nginx.
            line.starts_with(WORKER) && !line.contains("shutting down")
        })
    };
    let pids: Vec<&str> = children.split_whitespace().filter(is_worker).collect();
    let files = pids.first().and_then(|pid| {
        let limits = machine.text(&PathBuf::from(format!("/proc/{pid}/limits")))?;
        let mut lines = limits.lines();
        // Words of the kernel.
        let soft = lines.find_map(|line| line.strip_prefix("Max open files"))?;
        soft.split_whitespace().next()?.parse().ok()
    });
    let count = pids.len() as u64;
    (count > 0).then_some(Workers { count, files })
}

struct Nginx<'a> {
    reading: &'a Reading,
    facts: &'a ProcessFacts,
    machine: &'a Machine,
    port: u16,
    /// The command that makes it read its files again.
    reload: String,
    workers: Option<Workers>,
}

impl Nginx<'_> {
    fn tell(&self, found: &mut Found) {
        found.limits.push(self.backlog());
        found.limits.push(self.connections());
        found.limits.push(self.worker_processes());
        let natives = ["keepalive_timeout", "keepalive_requests"];
        let natives = natives.into_iter().filter_map(|name| {
            let statement = self.reading.last(name, &["http"])?;
            Some(self.native(name, FoundValue::of(statement.first()), statement))
        });
        found.limits.extend(natives);
        for statement in &self.reading.statements {
            match statement.name() {
                "limit_req_zone" => {
                    let rate = statement.words.iter();
                    let rate = rate
                        .filter_map(|word| word.strip_prefix("rate="))
                        .next_back();
                    found.notes.push(format!(
                        "a rate of requests is capped at {} for each {} ({}), where limit_req names that zone: nginx \
                         answers 503 above it",
                        rate.unwrap_or("a value that is not written"),
                        statement.first(),
                        statement.place()
                    ));
                }
                "limit_conn" => found.notes.push(format!(
                    "connections are capped at {} in the zone {} ({}): nginx answers 503 above it",
                    statement.words.last().map_or("", String::as_str),
                    statement.first(),
                    statement.place()
                )),
                _ => {}
            }
        }
        if let Some(pass) = self.passed_on() {
            found.notes.push(format!(
                "it passes requests on to {} ({}): each takes a second connection, and what bounds that server bounds it too",
                pass.first(),
                pass.place()
            ));
        }
    }

    /// The first directive in a server of the port that passes requests on.
    fn passed_on(&self) -> Option<&Statement> {
        let servers = self.servers();
        let passes = |statement: &&Statement| {
            let name = statement.name();
            let is_pass =
                name.ends_with("_pass") && name != "auth_request_pass" && statement.words.len() > 1;
            let mut within = statement.within.iter();
            is_pass && within.any(|block| servers.contains(&block.number))
        };
        self.reading.statements.iter().find(passes)
    }

    /// The `server` blocks that listen on the port.
    fn servers(&self) -> Vec<usize> {
        let listens = self.listens();
        let blocks = listens.filter_map(|statement| Some(statement.within.last()?.number));
        blocks.collect()
    }

    fn listens(&self) -> impl Iterator<Item = &Statement> {
        self.reading.statements.iter().filter(|statement| {
            statement.name() == "listen"
                && statement.is_in(&["http", "server"])
                && port_of(statement.first()) == Some(self.port)
        })
    }

    fn backlog(&self) -> FoundLimit {
        let written = self.listens().find_map(|statement| {
            let mut words = statement.words.iter();
            let number = words.find_map(|word| word.strip_prefix("backlog="))?;
            Some((number, statement))
        });
        let (value, origin) = match written {
            Some((number, statement)) => (FoundValue::of(number), statement.place()),
            None => (FoundValue::Number(DEFAULT_BACKLOG), "default".to_owned()),
        };
        FoundLimit {
            stage: "backlog".to_owned(),
            native: "backlog of listen".to_owned(),
            set: SetWay::Not(format!(
                "change it at {}, then stop and start nginx",
                self.listens()
                    .next()
                    .map_or("listen".to_owned(), Statement::place)
            )),
            value,
            origin,
        }
    }

    fn connections(&self) -> FoundLimit {
        let written = self.reading.last("worker_connections", &["events"]);
        let each = written.map_or(Some(DEFAULT_CONNECTIONS), |statement| {
            statement.first().parse().ok()
        });
        let place = written.map_or("default".to_owned(), Statement::place);
        let count = self.workers.map(|workers| workers.count).or_else(|| {
            let written = self.reading.last("worker_processes", &[]);
            written.map_or(Some(1), |statement| statement.first().parse().ok())
        });
        let files = self.workers.and_then(|workers| workers.files);
        let (value, origin) = match (each, count) {
            (Some(each), Some(count)) => {
                let bound = files.filter(|files| *files < each);
                let number = bound.unwrap_or(each) * count;
                let workers = if count == 1 { "worker" } else { "workers" };
                let bounded = bound.map_or(String::new(), |files| {
                    format!("; its limit of {files} open files acts before that")
                });
                let says = format!("{place}, {each} of each of {count} {workers}{bounded}");
                (FoundValue::Number(number), says)
            }
            (None, _) => (
                FoundValue::NotKnown,
                format!("{place}, which is no plain number"),
            ),
            (_, None) => (
                FoundValue::NotKnown,
                format!("{place}; how many workers there are is not known"),
            ),
        };
        let set = match (written, count) {
            (Some(statement), Some(count)) => self.set_way(statement, count),
            (None, _) => SetWay::Not(
                "worker_connections is written nowhere: write it into the block `events` and run weir init again"
                    .to_owned(),
            ),
            (_, None) => SetWay::Not(format!("{origin}: change it there and reload nginx")),
        };
        FoundLimit {
            stage: "connections".to_owned(),
            native: "worker_processes × worker_connections".to_owned(),
            value,
            origin,
            set,
        }
    }

    fn worker_processes(&self) -> FoundLimit {
        let written = self.reading.last("worker_processes", &[]);
        let is_number = written.is_none_or(|statement| statement.first().parse::<u64>().is_ok());
        let place = written.map_or("default".to_owned(), Statement::place);
        let (value, origin) = match (self.workers, written) {
            (Some(workers), _) if is_number => (FoundValue::Number(workers.count), place),
            (Some(workers), Some(statement)) => (
                FoundValue::Number(workers.count),
                format!("{place}, which says {}", statement.first()),
            ),
            (None, Some(statement)) => (FoundValue::of(statement.first()), place),
            (_, None) => (FoundValue::Number(1), place),
        };
        let set = match written {
            Some(statement) if is_number => self.set_way(statement, 1),
            _ => SetWay::Not(
                "worker_processes is written nowhere as a number: write it so and run weir init again".to_owned(),
            ),
        };
        FoundLimit {
            stage: "native.worker_processes".to_owned(),
            native: "worker_processes".to_owned(),
            value,
            origin,
            set,
        }
    }

    fn native(&self, name: &str, value: FoundValue, statement: &Statement) -> FoundLimit {
        FoundLimit {
            stage: format!("native.{name}"),
            native: name.to_owned(),
            value,
            origin: statement.place(),
            set: SetWay::Not(format!(
                "change it at {} and reload nginx with `{}`",
                statement.place(),
                self.reload
            )),
        }
    }

    /// A command that changes the number on the line of a directive and reloads, where the limit
    /// is that number times some processes.
    fn set_way(&self, statement: &Statement, times: u64) -> SetWay {
        let (facts, path) = (self.facts, &statement.file);
        let (name, place) = (statement.name(), statement.place());
        let is_number = statement.first().bytes().all(|byte| byte.is_ascii_digit());
        if !path.is_absolute() || !is_number || !self.stands_on_one_line(statement) {
            return SetWay::Not(format!(
                "{name} is not written as a number on a line of a file ({place}): write it so, and run weir init again"
            ));
        }
        let program = self.machine.own_program(facts).map(|_| ());
        let file = self.machine.why_not_change(path).map_or(Ok(()), Err);
        if let Err(why) = program.and(file) {
            return SetWay::Not(format!(
                "{why}, so no command is written that would run or change it for whoever runs Weir: change {name} at \
                 {place} as user {}, then reload nginx, or let Weir ask you (\"ask\")",
                facts.user
            ));
        }
        let (line, file, reload) = (statement.line, quoted(path), &self.reload);
        let address = format!("{line}s/\\({name}[[:space:]]*\\)[0-9][0-9]*");
        let (new, get) = if times == 1 {
            ("{value}".to_owned(), String::new())
        } else {
            let up = times - 1;
            (
                format!("'$((({{value}} + {up}) / {times}))'"),
                format!(" | {{ read n; echo $((n * {times})); }}"),
            )
        };
        SetWay::Command {
            set: format!("sed -i --follow-symlinks '{address}/\\1{new}/' {file} && {reload}"),
            get: Some(format!(
                "sed -n '{line}s/.*{name}[[:space:]]*\\([0-9]*\\).*/\\1/p' {file}{get}"
            )),
            does: format!(
                "changes the number of {name} on line {line} of {file} and reloads nginx: new workers take over, old ones \
                 end when their connections do; needs the rights to do so"
            ),
        }
    }

    /// Whether the name and the number stand on the line that is said.
    fn stands_on_one_line(&self, statement: &Statement) -> bool {
        let text = self.machine.text(&statement.file).unwrap_or_default();
        let line = text.lines().nth(statement.line.saturating_sub(1));
        line.and_then(|line| line.split_once(statement.name()))
            .is_some_and(|(_, rest)| rest.trim_start().starts_with(statement.first()))
    }
}

/// The port of the address of a `listen`.
fn port_of(address: &str) -> Option<u16> {
    if address.starts_with("unix:") {
        return None;
    }
    let port = match address.rsplit_once(':') {
        // `[::1]` has colons and no port.
        Some((_, port)) if !port.ends_with(']') => port,
        _ => address,
    };
    // Without a port it is 80: a name, an address or `*`.
    Some(port.parse().unwrap_or(80))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;

    use super::*;
    use crate::recognise::java_command::tests::process;

    fn found(line: &str, port: u16, files: &[(&str, &str)]) -> Found {
        let tree = tempfile::tempdir().unwrap();
        let program = ("usr/sbin/nginx", "");
        for (name, text) in files.iter().chain([&program]) {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut facts = process(&format!("/usr/sbin/nginx {line}"));
        facts.words = vec![format!("{MASTER}/usr/sbin/nginx {line}"), String::new()];
        recognise(&facts, port, &Machine::of_tree(tree.path())).unwrap()
    }

    fn limit<'f>(found: &'f Found, stage: &str) -> &'f FoundLimit {
        let mut limits = found.limits.iter();
        limits.find(|limit| limit.stage == stage).unwrap()
    }

    fn told(found: &Found, stage: &str) -> String {
        let limit = limit(found, stage);
        format!("{} ({})", limit.value, limit.origin)
    }

    #[test]
    fn the_limits_of_a_debian_configuration_are_found() {
        let found = found(
            "-g daemon on; master_process on;",
            8080,
            &[
                (
                    "etc/nginx/nginx.conf",
                    "user www-data;\nworker_processes 2;\nevents { worker_connections 768; }\nhttp {\n  keepalive_timeout 65;\n  \
                     limit_req_zone $binary_remote_addr zone=one:10m rate=50r/s;\n  include /etc/nginx/sites-enabled/*;\n}\n",
                ),
                (
                    "etc/nginx/sites-enabled/app",
                    "server { listen 80; location / { root /srv; } }\nserver {\n  listen 127.0.0.1:8080 backlog=64;\n  location / {\n    \
                     limit_req zone=one;\n    proxy_pass http://127.0.0.1:9000;\n  }\n}\n",
                ),
            ],
        );
        assert_eq!(
            told(&found, "connections"),
            "1536 (/etc/nginx/nginx.conf:3, 768 of each of 2 workers)"
        );
        assert_eq!(
            told(&found, "backlog"),
            "64 (/etc/nginx/sites-enabled/app:3)"
        );
        assert_eq!(
            told(&found, "native.worker_processes"),
            "2 (/etc/nginx/nginx.conf:2)"
        );
        assert_eq!(
            told(&found, "native.keepalive_timeout"),
            "65 (/etc/nginx/nginx.conf:5)"
        );
        let notes = found.notes.join("\n");
        assert!(notes.contains("capped at 50r/s"), "{notes}");
        assert!(
            notes.contains("passes requests on to http://127.0.0.1:9000"),
            "{notes}"
        );
        let SetWay::Command { set, get, .. } = &limit(&found, "connections").set else {
            panic!("{found:?}");
        };
        assert_eq!(
            set,
            "sed -i --follow-symlinks '3s/\\(worker_connections[[:space:]]*\\)[0-9][0-9]*/\\1'$((({value} + 1) / 2))'/' \
             /etc/nginx/nginx.conf && /usr/sbin/nginx -s reload"
        );
        assert_eq!(
            get.as_deref(),
            Some(
                "sed -n '3s/.*worker_connections[[:space:]]*\\([0-9]*\\).*/\\1/p' /etc/nginx/nginx.conf | { read n; \
                 echo $((n * 2)); }"
            )
        );
    }

    #[test]
    fn a_server_of_another_port_says_nothing_of_this_one() {
        let conf = "events {}\nhttp { server { listen 80 backlog=9; location / { fastcgi_pass x; } }\nserver { listen [::]:81; } }\n";
        let found = found("-c /srv/own.conf", 81, &[("srv/own.conf", conf)]);
        assert_eq!(told(&found, "backlog"), "511 (default)");
        assert_eq!(
            told(&found, "connections"),
            "512 (default, 512 of each of 1 worker)"
        );
        assert!(!found.notes.join("\n").contains("passes"), "{found:?}");
        assert!(matches!(
            &limit(&found, "connections").set,
            SetWay::Not(why) if why.contains("written nowhere")
        ));
    }

    #[test]
    fn what_is_not_plain_is_not_guessed() {
        let conf = "worker_processes auto;\nevents {\n  worker_connections\n  100;\n}\nhttp { include gone.conf; }\n";
        let found = found("", 80, &[("etc/nginx/nginx.conf", conf)]);
        assert_eq!(
            told(&found, "connections"),
            "not known (/etc/nginx/nginx.conf:3; how many workers there are is not known)"
        );
        assert_eq!(
            told(&found, "native.worker_processes"),
            "auto (/etc/nginx/nginx.conf:1)"
        );
        assert!(
            found.notes.join("\n").contains("gone.conf cannot be read"),
            "{found:?}"
        );
    }

    #[test]
    fn addresses_of_listen_have_a_port() {
        for (address, port) in [
            ("8080", Some(8080)),
            ("*:81", Some(81)),
            ("[::1]", Some(80)),
            ("[::]:82", Some(82)),
            ("localhost", Some(80)),
            ("127.0.0.1", Some(80)),
            ("unix:/run/x.sock", None),
        ] {
            assert_eq!(port_of(address), port, "{address}");
        }
    }
}
