//! Names and messages from outside that a terminal would obey, through every command.
//!
//! That nothing of it is printed, [`Done`](crate::support::Done) asserts of every run of the
//! program. Here it is put into all that the commands read, and must not begin a line of its own
//! either.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Done, PATIENCE, Place, wait_for};

/// Colour, title, clipboard, erasing, control characters of 8 bits, a direction, a line of its own.
const HOSTILE: &str = "x\u{1b}[31m\u{1b}]0;t\u{7}\u{1b}]52;c;aWQ=\u{1b}\\\u{9b}2J\u{8}\u{7f}\u{202e}\
                       \u{2066}\rz\nCheck: passed\nFORGED: all is well";
/// What of it XML may hold.
const IN_XML: &str = "x&#x9b;31m&#x7f;&#x202e;&#x2066;&#13;&#10;Check: passed&#10;FORGED: all";

/// No line begins as one of Weir's would; what was said is not empty.
#[track_caller]
fn forges_nothing(done: &Done) {
    let lines = done.stdout.lines().chain(done.stderr.lines());
    for line in lines {
        assert!(!line.starts_with("Check: passed"), "{done}");
        assert!(!line.starts_with("FORGED"), "{done}");
    }
    assert!(!done.stdout.is_empty() || !done.stderr.is_empty());
}

fn plan(element: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="{IN_XML}"/><hashTree>
<ThreadGroup testname="{IN_XML}"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp>
<boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
</ThreadGroup><hashTree>{element}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn sampler(host: &str, port: u16) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{IN_XML}"><stringProp name="HTTPSampler.domain">{host}</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#
    )
}

/// A server that answers everything with these bytes.
fn answers(bytes: impl Into<Vec<u8>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let bytes = bytes.into();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&bytes);
        }
    });
    port
}

fn http(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 500 \u{1b}[31mgone\r\nServer: \u{1b}]0;t\u{7}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

#[test]
fn plans_with_hostile_names() {
    let place = Place::new();
    let port = answers(http("gone"));
    place.write("plan.jmx", &plan(&sampler("127.0.0.1", port)));
    forges_nothing(&place.weir(&["check", "plan.jmx"]));
    forges_nothing(&place.weir(&["run", "-n", "-t", "plan.jmx", "-l", "out.jtl"]));
    for format in [&["explain", "--jtl", "out.jtl"][..], &["explain", "last"]] {
        forges_nothing(&place.weir(format));
    }
    let unsupported = format!(r#"<JDBCSampler testname="{IN_XML}"/><hashTree/>"#);
    let elements = [
        (unsupported, 2),
        // A host that is none fails its samples, as in JMeter.
        (sampler(IN_XML, 80), 0),
        (sampler("203.0.113.7", 80), 2),
    ];
    for (element, code) in elements {
        place.write("plan.jmx", &plan(&element));
        let done = place.weir(&["check", "plan.jmx"]);
        forges_nothing(&done);
        forges_nothing(&place.weir(&["run", "-n", "-t", "plan.jmx"]).ends(code));
    }
    let url = format!("http://127.0.0.1:{port}/");
    forges_nothing(&place.weir(&["run", &url, "-n", "2"]));
}

#[test]
fn files_with_hostile_names_and_words_that_are_none() {
    let place = Place::new();
    let name = format!("a{}.jmx", HOSTILE.replace('/', ""));
    place.write(&name, "no plan");
    forges_nothing(&place.weir(&["check", &name]).ends(2));
    let toml = name.replace(".jmx", ".toml");
    place.write(&toml, "no study");
    forges_nothing(&place.weir(&["check", &toml]).ends(2));
    for words in [
        &[HOSTILE][..],
        &["check", HOSTILE],
        &["run", HOSTILE],
        &["run", "plan.jmx", "--engine", HOSTILE],
        &["explain", HOSTILE],
        &["compare", HOSTILE, HOSTILE],
        &["report", HOSTILE],
        &["watch", HOSTILE],
        &["init", HOSTILE],
        &["tune", HOSTILE],
        &["simulate", HOSTILE],
        &["gate", HOSTILE],
        &["gate", "status", "--admin", HOSTILE],
        &["target", "show", HOSTILE],
        &["target", "install", HOSTILE],
        &["watch", "--ssh", HOSTILE, "1"],
    ] {
        forges_nothing(&place.weir(words));
    }
}

#[test]
fn studies_networks_and_gates_with_hostile_text() {
    let place = Place::new();
    let quoted = json!(HOSTILE.replace('\u{7f}', "")).to_string();
    for (schema, command) in [
        ("weir/study/1", &["tune", "--dry-run"][..]),
        ("weir/network/1", &["simulate"]),
        ("weir/gate/1", &["check"]),
    ] {
        for text in [
            format!("schema = \"{schema}\"\nquestion = {quoted}\n[load]\nurl = \"/\"\n"),
            format!("schema = \"{schema}\"\nquestion = \"{HOSTILE}\"\n"),
            format!("schema = \"{schema}\"\n{quoted} = 1\n[{quoted}]\n{quoted} = {quoted}\n"),
            format!("schema = {quoted}\n"),
        ] {
            place.write("a.toml", &text);
            forges_nothing(&place.weir(&["check", "a.toml"]));
            let words: Vec<&str> = command.iter().copied().chain(["a.toml"]).collect();
            forges_nothing(&place.weir(&words));
        }
    }
    place.write(
        "network.toml",
        &format!(
            "schema = \"weir/network/1\"\nquestion = {quoted}\n[run]\nseconds = \"10 s\"\nwarm-up = \"1 s\"\n\
             [group.{quoted}]\nservers = 1\n[group.{quoted}.station.{quoted}]\nservers = 1\n[class.{quoted}]\nrate = \"10/s\"\n\
             route = [{{ enter = {quoted} }}, {{ at = {quoted}, needs = {{ mean = \"10 ms\" }} }}, {{ leave = {quoted} }}]\n"
        ),
    );
    forges_nothing(&place.weir(&["simulate", "network.toml"]));
}

#[test]
fn results_of_others_with_hostile_labels() {
    let place = Place::new();
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";
    let label = format!("\"{}\"", HOSTILE.replace('"', ""));
    let rows = (0..400)
        .map(|row| {
            let at = 1_700_000_000_000_u64 + row * 100;
            format!("{at},20,{label},500,{label},{label},false,10,10,1,1,{label},10,0,1\n")
        })
        .collect::<Vec<_>>()
        .concat();
    place.write("a.jtl", &format!("{head}{rows}"));
    place.write("b.jtl", &format!("{head}{}", rows.replace(",20,", ",30,")));
    place.write("bad.jtl", &format!("{head}{label},{label}\n"));
    for file in ["a.jtl", "b.jtl", "bad.jtl"] {
        forges_nothing(&place.weir(&["explain", "--jtl", file]));
    }
    let runs = fs::read_dir(place.path("weir-runs")).unwrap().flatten();
    let runs: Vec<String> = runs
        .filter(|run| run.path().is_dir())
        .map(|run| format!("weir-runs/{}", run.file_name().display()))
        .collect();
    assert!(runs.len() >= 2, "{runs:?}");
    for run in &runs {
        // A run of somebody else holds what they like in every text.
        for name in ["result.json", "trials/001/trial.json"] {
            let path = place.path(run).join(name);
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let mut value: Value = serde_json::from_str(&text).unwrap();
            for text in ["question", "summary", "weir"] {
                if value.get(text).is_some_and(Value::is_string) {
                    value[text] = json!(HOSTILE);
                }
            }
            fs::write(path, value.to_string()).unwrap();
        }
        for words in [
            &["report", run][..],
            &["report", run, "--markdown"],
            &["explain", run],
            &["explain", run, "--json", "-"],
            &["model", run],
            &["size", run, "--users", "100"],
        ] {
            forges_nothing(&place.weir(words));
        }
    }
    forges_nothing(&place.weir(&["compare", &runs[0], &runs[1]]));
    let printed = place.weir(&["compare", &runs[0], &runs[1], "--json", "-"]);
    forges_nothing(&printed);
}

/// A process under somebody's hostile name, in a hostile folder.
struct Named(Child);

impl Drop for Named {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn processes_with_hostile_names() {
    let place = Place::new();
    let folder = place.path(&format!("d{}", HOSTILE.replace('/', "")));
    fs::create_dir(&folder).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"));
    let child = child
        .arg0(format!(
            "{HOSTILE}\n[target.external]\nset.threads = \"id\""
        ))
        .args(["sample-server", "--with-parent", "--rows=1000"])
        .args(["--listen=127.0.0.1:0", "--admin=127.0.0.1:0"])
        .env("CATALINA_BASE", &folder)
        .env("JAVA_OPTS", HOSTILE)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Named(child);
    let mut line = Vec::new();
    let mut stdout = server.0.stdout.take().unwrap();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1);
        line.push(byte[0]);
    }
    let ready: Value = serde_json::from_slice(&line).unwrap();
    let url = format!("http://{}/", ready["listen"].as_str().unwrap());
    let pid = server.0.id().to_string();
    place.write(
        "access.log",
        &format!(
            "127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /{}\u{202e}\u{9b} HTTP/1.1\" 200 7\n",
            "\u{1b}[31m\r"
        )
        .repeat(50),
    );
    forges_nothing(&place.weir(&["init", &url, "--access-log", "access.log"]));
    forges_nothing(&place.weir(&["init", &url, "--force"]).ends(0));
    let study = place.read("study.toml");
    let commented = study.lines().filter(|line| line.contains("set.threads"));
    assert!(
        commented.clone().all(|line| line.starts_with('#')),
        "{study}"
    );
    let is_obeyed = |letter: char| letter.is_control() && letter != '\n';
    assert!(!study.contains(is_obeyed), "{study}");
    place.weir(&["check", "study.toml"]).ends(0);
    for subject in [&url, &pid] {
        forges_nothing(&place.weir(&["watch", subject, "--for", "2s"]));
    }
    wait_for("the server", PATIENCE, || {
        server.0.try_wait().unwrap().is_none().then_some(())
    });
}

#[test]
fn a_hostile_admin_port() {
    let place = Place::new();
    let body = json!({ "classes": { HOSTILE: 1 }, HOSTILE: [HOSTILE] }).to_string();
    for answer in [
        http(&body),
        http(&body).replace("500 ", "200 "),
        HOSTILE.to_owned(),
    ] {
        let admin = format!("http://127.0.0.1:{}", answers(answer));
        forges_nothing(&place.weir(&["gate", "status", "--admin", &admin]).ends(3));
    }
}

#[test]
fn a_journal_with_hostile_entries() {
    let place = Place::new();
    let journal = place.state().join("journal-1");
    fs::create_dir_all(&journal).unwrap();
    let header =
        json!({ "schema": "weir/journal/1", "weir": HOSTILE, "owner": { "pid": 1, "start": 1 } });
    let other = json!({ "schema": HOSTILE, "weir": HOSTILE, "owner": { "pid": 1, "start": 1 } });
    let folder = place.path(&HOSTILE.replace('/', ""));
    fs::create_dir(&folder).unwrap();
    let directory = json!({ "directory": { "path": folder } });
    let wrote = json!({ "wrote": { "path": HOSTILE, "sha256": HOSTILE } });
    for text in [
        format!("{header}\n{directory}\n{wrote}\n"),
        format!("{header}\n{}\n", json!({ HOSTILE: HOSTILE })),
        format!("{other}\n"),
        format!("{HOSTILE}\n"),
    ] {
        fs::create_dir_all(&journal).unwrap();
        fs::write(journal.join("entries.jsonl"), text).unwrap();
        forges_nothing(&place.weir(&["target", "restore"]));
        forges_nothing(&place.weir(&["target", "restore", "--forget"]));
    }
    forges_nothing(&place.weir(&["target", "list"]));
}
