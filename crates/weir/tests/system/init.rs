//! `weir init` on a real Tomcat that runs already: its limits are read from its files, the study is
//! accepted, runs, sets a limit over JMX, and leaves the server as it was.
//!
//! Runs in the *system* profile only (`WEIR_SYSTEM_TESTS=1`). It needs a JDK and Maven.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Place, funnel, json_file, names_in, signal_to, skipped, wait_for};
use rustix::process::Signal;

/// How long fetching, starting and two short trials may take on a busy machine.
const STUDY: Duration = Duration::from_secs(300);

/// As a user would have it: a limit on the connector, one left to its default.
const SERVER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector port="PORT" address="127.0.0.1" protocol="HTTP/1.1"
               maxThreads="30" minSpareThreads="3" acceptCount="50"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps"/>
    </Engine>
  </Service>
</Server>
"#;

/// A Tomcat that nobody but the test knows.
struct UsersTomcat {
    child: Child,
    port: u16,
}

impl UsersTomcat {
    fn start(home: &Path, base: &Path, options: &[String]) -> Self {
        for folder in ["conf", "logs", "temp", "work", "webapps/ROOT"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let server = SERVER.replace("PORT", &port.to_string());
        fs::write(base.join("conf/server.xml"), server).unwrap();
        fs::copy(home.join("conf/web.xml"), base.join("conf/web.xml")).unwrap();
        fs::write(base.join("webapps/ROOT/index.html"), "<p>a page</p>").unwrap();
        let jars = ["bootstrap.jar", "tomcat-juli.jar"].map(|jar| home.join("bin").join(jar));
        let child = Command::new("java")
            .arg("-Xmx128m")
            .args(options)
            .arg(format!("-Dcatalina.home={}", home.display()))
            .arg(format!("-Dcatalina.base={}", base.display()))
            .arg("-cp")
            .arg(jars.map(|jar| jar.display().to_string()).join(":"))
            .args(["org.apache.catalina.startup.Bootstrap", "start"])
            .stdin(Stdio::null())
            .stdout(File::create(base.join("logs/out")).unwrap())
            .stderr(File::create(base.join("logs/err")).unwrap())
            .spawn()
            .unwrap();
        let server = Self { child, port };
        wait_for("a Tomcat that answers", STUDY, || {
            std::net::TcpStream::connect(("127.0.0.1", port))
                .ok()
                .map(drop)
        });
        server
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/index.html", self.port)
    }
}

impl Drop for UsersTomcat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The home of the Tomcat in the tests' cache.
fn tomcat(place: &Place) -> PathBuf {
    place
        .start(&["target", "install", "tomcat-11", "jolokia"])
        .done(STUDY)
        .ends(0);
    let home = in_folder(&cached("tomcat-11"), |name| {
        name.starts_with("apache-tomcat")
    });
    home.unwrap_or_else(|| cached("tomcat-11"))
}

/// What was installed under a name that begins like this.
fn cached(begin: &str) -> PathBuf {
    let cache = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    in_folder(cache, |name| name.starts_with(begin)).unwrap()
}

/// The first in a folder that is wanted.
fn in_folder(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let name = names_in(folder).into_iter().find(|name| is_wanted(name))?;
    Some(folder.join(name))
}

#[test]
fn a_users_tomcat_is_recognised_set_and_left_as_it_was() {
    if skipped("a_users_tomcat_is_recognised_set_and_left_as_it_was") {
        return;
    }
    let place = Place::new();
    let base = place.path("base");
    let server = UsersTomcat::start(&tomcat(&place), &base, &[]);
    let conf = base.join("conf/server.xml");
    let place_of = |line: u32| format!("({}:{line})", conf.display());
    place.weir(&["init", &server.url()]).ends(0).prints(&[
        "Apache Tomcat/11.",
        &format!("process {}", server.child.id()),
        &format!("threads 30 live (JMX) maxThreads {}", place_of(5)),
        &format!("backlog 50 by hand acceptCount {}", place_of(5)),
        "connections 8192 live (JMX) maxConnections (default;",
    ]);
    place.weir(&["check", "study.toml"]).ends(0);
    let study = place.read("study.toml");
    assert!(study.contains("\nthreads = \"jmx\"\n"), "{study}");

    // What `weir tune` would do for minutes, as one short trial.
    let (head, _) = study.split_once("\n[find]\n").unwrap();
    let short = head.replace("window = \"auto\"", "window = \"5 s\"\nwarm-up = \"1 s\"")
        + "\n[sweep]\ndesign = \"full\"\n[sweep.factors]\nusers = [4]\nthreads = [2]\n";
    place.write("short.toml", &short);
    place
        .start(&["sweep", "short.toml"])
        .done(STUDY)
        .ends(0)
        .says(&["gets a Jolokia agent on the loopback address"]);
    let run = &names_in(&place.path("weir-runs"))[0];
    let result = json_file(&place.path(&format!("weir-runs/{run}/result.json")));
    // All of it, also what cannot be set.
    assert_eq!(
        funnel(&result),
        [
            ("backlog", Some(50.0), false),
            ("connections", Some(8192.0), false),
            ("request-queue", None, false),
            ("threads", Some(30.0), true),
        ]
    );
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        assert_eq!(
            trial["signals"]["threads.limit"], trial["levels"]["threads"],
            "{trial:#}"
        );
        // Who waits for a thread is told; of requests as short as these hardly anybody does.
        let waiting = trial["signals"]["request-queue.waiting"].as_f64();
        assert!(waiting.is_some_and(|waiting| waiting <= 4.0), "{trial:#}");
    }
    assert_eq!(
        names_in(&place.state()),
        Vec::<String>::new(),
        "everything is put back"
    );

    // A Weir that is killed in the middle: the limit is put back through the agent, which is still
    // there.
    let mut weir = place.start(&["sweep", "short.toml"]);
    weir.wait_for("a journal with a limit", STUDY, |_| {
        let journal = names_in(&place.state())
            .into_iter()
            .find(|name| name.starts_with("journal-"))?;
        let entries = place.state().join(journal).join("entries.jsonl");
        fs::read_to_string(entries)
            .ok()?
            .contains("maxThreads")
            .then_some(())
    });
    signal_to(weir.pid(), Signal::KILL);
    drop(weir);
    place
        .weir(&["target", "restore"])
        .ends(0)
        .says(&["maxThreads", "stopped the agent"]);
    assert_eq!(
        fs::read_to_string(&conf).unwrap(),
        SERVER.replace("PORT", &server.port.to_string())
    );
}

/// Asks an agent of Jolokia for something that changes the server.
fn post(url: &str, body: &str) -> String {
    let (address, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_running_limit_counts_and_a_changed_file_is_named() {
    if skipped("the_running_limit_counts_and_a_changed_file_is_named") {
        return;
    }
    let place = Place::new();
    let base = place.path("base");
    let home = tomcat(&place);
    let jar = in_folder(&cached("jolokia"), |name| name.ends_with("javaagent.jar")).unwrap();
    let agent = format!("-javaagent:{}=host=127.0.0.1,port=0", jar.display());
    let server = UsersTomcat::start(&home, &base, &[agent]);
    let conf = base.join("conf/server.xml");
    let out = base.join("logs/out");
    let url = wait_for("an agent that listens", STUDY, || {
        let out = fs::read_to_string(&out).unwrap();
        let (_, url) = out.split_once(" started with URL ")?;
        Some(url.split_whitespace().next()?.to_owned())
    });
    place
        .weir(&["init", &server.url()])
        .ends(0)
        .prints(&[&format!(
            "threads 30 live (JMX) maxThreads ({}:5)",
            conf.display()
        )]);

    // Somebody sets another limit while it runs, and writes a third one into the file.
    let set = format!(
        r#"{{"type":"write","mbean":"Catalina:name=\"http-nio-127.0.0.1-{}\",type=ThreadPool","attribute":"maxThreads","value":17}}"#,
        server.port
    );
    let answer = post(&url, &set);
    assert!(answer.contains("\"status\":200"), "{answer}");
    std::thread::sleep(Duration::from_secs(4));
    let text = fs::read_to_string(&conf).unwrap();
    fs::write(
        &conf,
        text.replace("maxThreads=\"30\"", "maxThreads=\"40\""),
    )
    .unwrap();
    fs::remove_file(place.path("study.toml")).unwrap();
    place.weir(&["init", &server.url()]).ends(0).prints(&[
        "threads 17 live (JMX) maxThreads (the running server, over JMX; 40:",
        "threads is 17 in the running server and 40 where it is configured",
        &format!("{} was changed after the server started", conf.display()),
    ]);
}
