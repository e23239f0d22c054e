//! The program as people meet it: what it says, what it prints, how it ends.
//!
//! Loads go to sample servers that the tests start on this machine, for a second or two each.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::Signal;
use weir_record::IntervalHistograms;

use crate::support::{Done, PATIENCE, Place, SampleServer, assert_valid, repository_file};

/// A study with one line exchanged.
fn study_with(old: &str, new: &str) -> Place {
    let place = Place::with_plan();
    let text = repository_file("studies/default.toml");
    assert!(text.contains(old), "the built-in study has `{old}`");
    place.write("study.toml", &text.replace(old, new));
    place
}

/// The line of the first place of a text in a file, counted from 1.
fn line_of(text: &str, part: &str) -> usize {
    1 + text
        .lines()
        .position(|line| line.contains(part))
        .unwrap_or_else(|| panic!("`{part}` stands in the file"))
}

/// Asserts that `check` and `tune` refuse a study in the same words, and that nothing was started.
#[track_caller]
fn refused(place: &Place, says: &[&str]) {
    for words in [
        &["check", "study.toml"][..],
        &["tune", "study.toml", "--dry-run"],
        &["tune", "study.toml"],
    ] {
        let done = place.weir(words).ends(2).says(says);
        assert_eq!(done.stdout, "");
    }
    assert_eq!(place.names(), ["plans", "study.toml"], "no run was begun");
}

#[test]
fn a_plan_that_is_not_there_is_named_with_the_reason() {
    let place = Place::new();
    for words in [
        &["run", "nowhere.jmx"][..],
        &["check", "nowhere.jmx"],
        &["run", "-n", "-t", "nowhere.jmx"],
    ] {
        place
            .weir(words)
            .ends(2)
            .says(&["nowhere.jmx", "No such file or directory"]);
    }
    place
        .weir(&["tune", "nowhere.toml"])
        .ends(2)
        .says(&["nowhere.toml", "No such file or directory"]);
}

#[test]
fn a_plan_that_was_cut_off_is_named_with_the_line() {
    let place = Place::new();
    let whole = repository_file("studies/plans/short.jmx");
    let cut = &whole[..whole.len() / 2];
    place.write("cut.jmx", cut);
    let place_in_file = format!("cut.jmx:{}:", cut.lines().count());
    for words in [&["run", "cut.jmx"][..], &["check", "cut.jmx"]] {
        place
            .weir(words)
            .ends(2)
            .says(&[&place_in_file, "cut off", "take a whole copy"]);
    }
}

#[test]
fn an_element_that_weir_does_not_know_is_refused_before_anything_is_sent() {
    let server = SampleServer::start();
    let place = Place::new();
    let whole = repository_file("studies/plans/short.jmx");
    let sampler = "<HTTPSamplerProxy ";
    let mail = "<MailReaderSampler guiclass=\"MailReaderSamplerGui\" \
                testclass=\"MailReaderSampler\" testname=\"Mail\" enabled=\"true\"/><hashTree/>\n";
    let plan = whole.replacen(sampler, &format!("{mail}{sampler}"), 1);
    place.write("mail.jmx", &plan);
    let line = format!("line {}", line_of(&plan, "<MailReaderSampler"));
    let parts = [
        "mail.jmx",
        &line,
        "MailReaderSampler \"Mail\"",
        "this step would not be done",
        "--engine jmeter",
    ];
    place
        .weir(&["run", "mail.jmx", "-J", &format!("PORT={}", server.port())])
        .ends(2)
        .says(&parts)
        .says(&["nothing was sent"]);
    place
        .weir(&["check", "mail.jmx"])
        .ends(2)
        .prints(&parts)
        .prints(&["1 element cannot be run natively"]);
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_misspelt_key_gets_its_line_and_the_right_word() {
    let text = repository_file("studies/default.toml");
    let line = line_of(&text, "precision =");
    refused(
        &study_with("precision =", "presicion ="),
        &[
            &format!("study.toml:{line}:1"),
            "`presicion` is not known in [find]",
            "did you mean `precision`?",
        ],
    );
}

#[test]
fn a_goal_out_of_range_is_refused() {
    let text = repository_file("studies/default.toml");
    let line = line_of(&text, "subject-to =");
    for (goal, says) in [
        ("cpu <= 180 %", "a share lies between 0 % and 100 %"),
        ("cpu <= 100 %", "a CPU goal lies between 1 % and 99 %"),
    ] {
        refused(
            &study_with("cpu <= 80 %\",", &format!("{goal}\",")),
            &[&format!("study.toml:{line}:"), goal, says],
        );
    }
}

#[test]
fn a_range_that_is_reversed_is_refused_with_the_right_one() {
    let text = repository_file("studies/default.toml");
    let line = line_of(&text, "within =");
    refused(
        &study_with("within = [1, 400]", "within = [400, 1]"),
        &[
            &format!("study.toml:{line}:10"),
            "holds nothing to choose from",
            "write `within = [1, 400]`",
        ],
    );
}

#[test]
fn a_property_that_the_plan_does_not_have_is_refused_with_those_it_has() {
    let text = repository_file("studies/default.toml");
    let line = line_of(&text, "users = ");
    refused(
        &study_with("\"THREAD_NUMBER\"", "\"THREADS\""),
        &[
            &format!("study.toml:{line}:9"),
            "the plan has no property `THREADS`",
            "the plan's properties are BIT, HOST, PORT, SUSTAIN, THREAD_NUMBER",
        ],
    );
}

#[test]
fn the_wrong_command_for_a_study_names_the_right_one() {
    let place = Place::with_plan();
    place.write("find.toml", &repository_file("studies/default.toml"));
    place
        .weir(&["sweep", "find.toml"])
        .ends(2)
        .says(&["find.toml", "run it with `weir tune`"]);
    place.write("table.toml", &repository_file("studies/e1-sample.toml"));
    place.write(
        "plans/stress.jmx",
        &repository_file("studies/plans/stress.jmx"),
    );
    place
        .weir(&["tune", "table.toml"])
        .ends(2)
        .says(&["table.toml", "run it with `weir sweep`"]);
}

/// 203.0.113.7 is a documentation address (RFC 5737). Should a test ever get past the refusal, the
/// load would last a second, and nobody is there.
#[test]
fn a_public_host_is_refused_with_the_line_of_the_plan() {
    let place = Place::with_plan();
    let plan = place.read("plans/short.jmx");
    let line = line_of(&plan, "<HTTPSamplerProxy");
    let ways_out = ["--allow-host 203.0.113.7", "allow-hosts", "--target"];
    place
        .weir(&[
            "run",
            "plans/short.jmx",
            "-J",
            "HOST=203.0.113.7",
            "-J",
            "SUSTAIN=1",
            "-l",
            "out.jtl",
        ])
        .ends(2)
        .says(&[
            &format!("plans/short.jmx:{line}:"),
            "`203.0.113.7`",
            "public address",
        ])
        .says(&ways_out);
    place
        .weir(&["run", "http://203.0.113.7/", "-c", "1", "-d", "1s"])
        .ends(2)
        .says(&["the command line", "`203.0.113.7`"])
        .says(&ways_out);
    place
        .weir(&[
            "run",
            "plans/short.jmx",
            "--target",
            "http://203.0.113.7:80",
            "-J",
            "SUSTAIN=1",
        ])
        .ends(2)
        .says(&["the command line", "`203.0.113.7`"]);
    assert_eq!(place.names(), ["plans"], "no samples were written");
}

/// Servers from a response and from a file; one line of the file names a documentation address (RFC
/// 5737), which is public. It is not even connected to.
#[test]
fn servers_that_are_found_at_run_time_are_asked_unless_they_are_public() {
    let second = Answering::start("second".to_owned());
    let first = Answering::start(format!("next={}.", second.port));
    let place = Place::new();
    let plan = found_servers(first.port);
    place.write("plan.jmx", &plan);
    let servers = format!("127.0.0.1,{}\n203.0.113.7,80\n", second.port);
    place.write("servers.csv", &servers);
    let warning = |part: &str| {
        let line = line_of(&plan, part);
        format!("plan.jmx:{line}: the server is known only when the request is sent")
    };
    let known = format!("load goes to 127.0.0.1:{}", first.port);
    let done = place
        .weir(&["run", "plan.jmx", "-l", "out.jtl"])
        .ends(0)
        .says(&[&known, &warning("\"by file\""), &warning("\"by answer\"")]);
    assert!(!done.stderr.contains(&warning("\"first\"")), "{done}");
    assert_eq!(first.asked(), ["/first", "/first"]);
    assert_eq!(second.asked(), ["/file", "/answer", "/answer"]);
    let jtl = place.read("out.jtl");
    let refused: Vec<&str> = jtl.lines().filter(|line| !line.contains(",200,")).collect();
    assert_eq!(refused.len(), 2, "a header and a refused sample: {jtl}");
    assert!(
        refused[1].contains("by file,Non HTTP response code: weir.NotAllowed,")
            && refused[1].contains("203.0.113.7 has the public address"),
        "{jtl}"
    );
    // A target gets everything, and there is nothing to warn of.
    let target = format!("http://127.0.0.1:{}", first.port);
    let done = place
        .weir(&["run", "plan.jmx", "--target", &target])
        .ends(0);
    assert!(!done.stderr.contains("is known only"), "{done}");
    let asked = first.asked();
    let expected = ["/first", "/file", "/answer", "/first", "/file", "/answer"];
    assert_eq!(asked[2..], expected);
}

/// Two loops: a server that the plan names, one from a file, one from the first server's answer.
fn found_servers(port: u16) -> String {
    let request = |name: &str, host: &str, port: &str, path: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="{name}"><stringProp name="HTTPSampler.domain">{host}</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy>
"#
        )
    };
    let first = request("first", "127.0.0.1", &port.to_string(), "/first");
    let by_file = request("by file", "${server}", "${at}", "/file");
    let by_answer = request("by answer", "127.0.0.1", "${next}", "/answer");
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="plan"></TestPlan><hashTree>
<ThreadGroup testname="group"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp>
</elementProp></ThreadGroup><hashTree>
<CSVDataSet testname="servers"><stringProp name="filename">servers.csv</stringProp>
<stringProp name="fileEncoding">UTF-8</stringProp><stringProp name="variableNames">server,at</stringProp>
<stringProp name="delimiter">,</stringProp><boolProp name="recycle">true</boolProp></CSVDataSet><hashTree/>
{first}<hashTree>
<RegexExtractor testname="next"><stringProp name="RegexExtractor.refname">next</stringProp>
<stringProp name="RegexExtractor.regex">next=(\d+)\.</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
<stringProp name="RegexExtractor.default">none</stringProp><stringProp name="RegexExtractor.match_number">1</stringProp>
</RegexExtractor><hashTree/></hashTree>
{by_file}<hashTree/>
{by_answer}<hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#
    )
}

/// A server that answers everything alike and notes what it was asked.
struct Answering {
    port: u16,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Answering {
    fn start(body: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let paths = Arc::default();
        let noted = Arc::clone(&paths);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (body, noted) = (body.clone(), Arc::clone(&noted));
                thread::spawn(move || answer_alike(&stream.unwrap(), &body, &noted));
            }
        });
        Self { port, paths }
    }

    fn asked(&self) -> Vec<String> {
        self.paths.lock().unwrap().clone()
    }
}

fn answer_alike(mut stream: &TcpStream, body: &str, noted: &Mutex<Vec<String>>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(rest) = line.strip_prefix("GET ") {
            let path = rest.split(' ').next().unwrap();
            noted.lock().unwrap().push(path.to_owned());
        }
        if line.is_empty() {
            let length = body.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    }
}

#[test]
fn a_letter_of_the_other_grammar_is_refused_with_both_meanings() {
    let place = Place::with_plan();
    place
        .weir(&["run", "plans/short.jmx", "-c", "4"])
        .ends(2)
        .says(&[
            "`-c`",
            "with a .jmx plan it means nothing",
            "with a URL it means the number of connections",
        ]);
    place
        .weir(&["run", "http://127.0.0.1:1/", "-l", "out.jtl"])
        .ends(2)
        .says(&[
            "`-l`",
            "with a .jmx plan it means the file for every sample",
            "with a URL it means nothing; --json writes the result",
        ]);
}

#[test]
fn a_port_in_use_is_an_environment_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let place = study_with(
        "[target.builtin]\n",
        &format!("[target.builtin]\nport = {}\n", address.port()),
    );
    let listen = format!("--listen={address}");
    let holder = format!("process {} has it", std::process::id());
    place
        .weir(&[
            "sample-server",
            &listen,
            "--admin=127.0.0.1:0",
            "--rows=1000",
        ])
        .ends(3)
        .says(&[&address.to_string(), "in use", &holder]);
    place
        .weir(&["tune", "study.toml"])
        .ends(3)
        .says(&[&address.to_string(), "in use", &holder]);
    // Whoever listens there would be measured instead.
    place.write(
        "started.toml",
        &format!(
            "schema = \"weir/study/1\"\n[target.command]\nrun = \"sleep 60\"\nport = {}\n[load]\nurl = \"/\"\n\
             window = \"5 s\"\nwarm-up = \"1 s\"\n[sweep]\ndesign = \"full\"\n[sweep.factors]\nusers = [1, 2]\n",
            address.port()
        ),
    );
    place.weir(&["sweep", "started.toml"]).ends(3).says(&[
        "in use",
        &holder,
        "leave `port` out of the study",
    ]);
}

#[test]
fn a_full_disk_ends_a_run_with_the_name_of_the_file() {
    let server = SampleServer::start();
    let place = Place::with_plan();
    place
        .weir(&[
            "run",
            "plans/short.jmx",
            "-J",
            "SUSTAIN=2",
            "-J",
            &format!("PORT={}", server.port()),
            "-l",
            "/dev/full",
        ])
        .ends(3)
        .says(&["/dev/full", "No space left on device"]);
}

#[test]
fn a_dry_run_tells_the_trials_and_the_time_and_runs_nothing() {
    let place = Place::with_plan();
    for words in [
        &["tune", "--dry-run"][..],
        &["tune", "study.toml", "--dry-run"],
    ] {
        place.write("study.toml", &repository_file("studies/default.toml"));
        place.weir(words).ends(0).prints(&[
            "trials",
            "users from 1 to 400",
            "of load are expected, at most 360 s",
        ]);
    }
    place.write(
        "plans/stress.jmx",
        &repository_file("studies/plans/stress.jmx"),
    );
    place.write("table.toml", &repository_file("studies/e1-sample.toml"));
    place
        .weir(&["sweep", "table.toml", "--dry-run"])
        .ends(0)
        .prints(&[
            "pool 10, as published",
            "60 users held at 40",
            "1755 s of load are expected",
        ]);
    assert_eq!(place.names(), ["plans", "study.toml", "table.toml"]);
}

#[test]
fn check_says_when_nothing_is_wrong() {
    let place = Place::with_plan();
    place.write("study.toml", &repository_file("studies/default.toml"));
    place.write("notes.txt", "");
    place
        .weir(&["check", "study.toml"])
        .ends(0)
        .prints(&["study.toml: nothing is wrong"]);
    place
        .weir(&["check", "plans/short.jmx"])
        .ends(0)
        .prints(&["plans/short.jmx: runs natively in full"]);
    place
        .weir(&["check", "plans/short.jmx", "study.toml"])
        .ends(0)
        .prints(&["runs natively in full", "nothing is wrong"]);
    place
        .weir(&["check", "plans/short.jmx", "notes.txt", "nowhere.jmx"])
        .ends(2)
        .prints(&["runs natively in full"])
        .says(&["notes.txt", "nowhere.jmx"]);
    place
        .weir(&["check", "notes.txt"])
        .ends(2)
        .says(&["notes.txt", ".jmx", ".toml"]);
}

#[test]
fn each_grammar_of_run_has_its_help_and_names_the_other() {
    let place = Place::new();
    place.weir(&["run", "--help"]).ends(0).prints(&[
        "[URL]...",
        "--connections",
        "--duration",
        "--no-keepalive",
        "weir run --help PLAN.jmx",
    ]);
    for words in [
        &["run", "--help", "PLAN.jmx"][..],
        &["run", "PLAN.jmx", "--help"],
    ] {
        place.weir(words).ends(0).prints(&[
            "JMeter's meaning",
            "-t, --testfile",
            "-l, --logfile",
            "-J, --jmeterproperty",
            "weir run URL --help",
        ]);
    }
}

#[test]
fn the_sample_servers_help_lists_every_limit() {
    Place::new()
        .weir(&["sample-server", "--help"])
        .ends(0)
        .prints(&[
            "--backlog",
            "--max-connections",
            "--when-full",
            "--connection-timeout",
            "--threads",
            "--pool",
            "--rows",
        ]);
}

#[test]
fn the_exit_codes_stand_in_the_help() {
    Place::new().weir(&["--help"]).ends(0).prints(&[
        "0 answered",
        "1 answered, requirement not met",
        "2 bad input",
        "3 environment",
        "4 measurement not valid",
        "130 interrupted",
    ]);
    Place::new().weir(&["tuna"]).ends(2).says(&["tune"]);
}

/// Samples and errors of a `weir run` result.
fn samples(result: &serde_json::Value) -> (u64, u64) {
    let trial = &result["trial"];
    let window_s = trial["window_s"].as_f64().unwrap();
    let throughput = trial["throughput_per_s"].as_f64().unwrap();
    let errors = trial["errors"]["count"].as_u64().unwrap();
    ((window_s * throughput).round() as u64, errors)
}

#[test]
fn a_url_is_loaded_and_the_counts_are_those_of_the_server() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = format!("http://{}/light?n=10", server.listen);
    // A busy machine may make the figures invalid; they are counted all the same.
    let done = place
        .weir(&["run", &url, "-c", "4", "-d", "2s", "--json", "-"])
        .ends_one_of(&[0, 4])
        .says(&["load goes to 127.0.0.1", "/light"]);
    let result = done.json();
    assert_valid("docs/schemas/run.schema.json", &result);
    assert_eq!(result["schema"], "weir/run/1");
    assert_eq!(result["exit_code"], done.code.unwrap());
    let (samples, errors) = samples(&result);
    assert_eq!((samples, errors), (server.requests(), 0));
    assert!(samples > 0);
}

/// One data row of a JTL, by column; no field of these runs holds a comma.
fn rows(jtl: &str) -> Vec<Vec<&str>> {
    jtl.lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect()
}

#[track_caller]
fn run_short_plan(place: &Place, server: &SampleServer) -> Done {
    let port = format!("PORT={}", server.port());
    place
        .start(&[
            "run",
            "-n",
            "-t",
            "plans/short.jmx",
            "-J",
            "THREAD_NUMBER=3",
            "-J",
            "SUSTAIN=2",
            "-J",
            "BIT=64",
            "-J",
            &port,
            "-l",
            "out.jtl",
            "--json",
            "out.json",
        ])
        .done(PATIENCE)
        .ends_one_of(&[0, 4])
}

/// The lines that JMeter's users know; dates, numbers and the port apart.
#[track_caller]
fn assert_jmeters_console(text: &str) {
    let mut begin = [
        "Creating summariser <summary>",
        "Created the tree successfully using plans/short.jmx",
        "Starting standalone test @ ",
    ]
    .into_iter();
    let mut lines = text.lines();
    assert!(
        begin.all(|part| lines.next().is_some_and(|line| line.starts_with(part))),
        "{text}"
    );
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    assert_eq!(last[0], "... end of run");
    assert!(last[1].starts_with("Tidying up ...    @ "), "{text}");
    assert!(
        last[2].starts_with("summary = ") && last[2].contains("/s Avg: "),
        "{text}"
    );
}

#[test]
fn a_plan_runs_as_with_jmeters_command_line() {
    let server = SampleServer::start();
    let place = Place::with_plan();
    place.write("main.properties", "PORT=1\nSUSTAIN=1\n");
    place.write("more.properties", "PORT=2\nBIT=64\nTHREAD_NUMBER=2\n");
    let port = format!("-JPORT={}", server.port());
    let run = |more: &[&str]| {
        let words = [
            "run",
            "-n",
            "-t",
            "plans/short.jmx",
            "-p",
            "main.properties",
            "-q",
            "more.properties",
            &port,
            "-l",
            "out/rows.xml",
            "-j",
            "run.log",
            "-Jjmeter.save.saveservice.output_format=xml",
        ];
        place.start(&[&words, more].concat()).done(PATIENCE)
    };
    let all = [
        "-e",
        "-o",
        "report",
        "--require",
        "errors <= 0 %",
        "--require",
        "p99 <= 0.000001 ms",
        "--junit",
        "junit.xml",
    ];
    // Of the two requirements one can be met and one cannot; a busy machine may spoil the figures.
    let done = run(&all)
        .ends_one_of(&[1, 4])
        .says(&["not met: p99 <= 0.000001 ms"]);
    assert_jmeters_console(&done.stdout);
    assert!(
        place
            .read("run.log")
            .contains("INFO o.a.j.r.Summariser: summary = ")
    );
    assert!(
        place
            .read("junit.xml")
            .contains("<testcase classname=\"weir\" name=\"errors &lt;= 0 %\"/>")
    );
    let rows = place.read("out/rows.xml").matches("<httpSample ").count() as u64;
    assert_eq!(rows, server.requests());
    let figures: serde_json::Value =
        serde_json::from_str(&place.read("report/statistics.json")).unwrap();
    assert_eq!(figures["Total"]["sampleCount"], rows);
    assert!(place.read("report/index.html").contains("Statistics"));
    // A report is of one run, and goes into an empty folder, unless -f says otherwise.
    run(&["-e", "-o", "other"])
        .ends(2)
        .says(&["out/rows.xml: the file is not empty"]);
    place
        .weir(&["run", "-g", "out/rows.xml", "-o", "report"])
        .ends(2)
        .says(&["report: the folder is not empty"]);
    place
        .weir(&["run", "-g", "out/rows.xml", "-o", "report", "-f"])
        .ends(0);
    place
        .weir(&["run", "-g", "plans/short.jmx", "-o", "nothing"])
        .ends(2)
        .says(&["there is no sample in it"]);
    let again: serde_json::Value =
        serde_json::from_str(&place.read("report/statistics.json")).unwrap();
    assert_eq!(again, figures);
}

#[test]
fn what_is_not_there_yet_is_said() {
    let place = Place::with_plan();
    for (words, says) in [
        (
            &["run", "-n", "-t", "plans/short.jmx", "-r"][..],
            "several machines is not there yet",
        ),
        (
            &["run", "-n", "-t", "plans/short.jmx", "-R", "a,b"],
            "several machines is not there yet",
        ),
        (&["run", "-s"], "several machines is not there yet"),
        (
            &["run", "-n", "-t", "plans/short.jmx", "-H", "proxy"],
            "-H and -P go together",
        ),
        (
            &["run", "plans/short.jmx", "--require", "p75 <= 1 ms"],
            "`p75` is not recorded",
        ),
    ] {
        place.weir(words).ends(2).says(&[says]);
    }
    let target = ["--target", "http://127.0.0.1:9"];
    let nobody = [
        &["run", "plans/short.jmx", "-JTHREAD_NUMBER=0"][..],
        &target,
    ]
    .concat();
    let nobody = place.weir(&nobody).ends(2).says(&["0 users"]);
    assert!(!nobody.stdout.contains("end of run"));
    place.weir(&["run", "-v"]).ends(0).prints(&["weir 0"]);
    place
        .weir(&["run", "-?"])
        .ends(0)
        .prints(&["-t, --testfile"]);
}

/// Documentation addresses (RFC 5737): nothing is sent to them.
#[test]
fn a_proxy_is_a_host_that_gets_load() {
    let place = Place::with_plan();
    let says = "the host `203.0.113.7` has the public address";
    let proxy = ["--proxy", "http://203.0.113.7:3128", "-n", "1"];
    let url = [&["run", "http://127.0.0.1:9/"][..], &proxy].concat();
    place.weir(&url).ends(2).says(&[says]);
    let plan = ["run", "plans/short.jmx", "-H", "203.0.113.7", "-P", "3128"];
    place.weir(&plan).ends(2).says(&[says]);
    place
        .weir(&["run", "plans/short.jmx", "--engine", "jmeter", "--http2"])
        .ends(2)
        .says(&["JMeter speaks HTTP/1.1"]);
}

#[test]
fn a_number_of_requests_is_shared_by_all_connections() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = format!("http://{}/light", server.listen);
    let words = [
        "run", &url, "-n", "500", "-c", "7", "--random", "n=1..20", "--json", "-",
    ];
    let done = place.start(&words).done(PATIENCE).ends_one_of(&[0, 4]);
    assert_eq!(samples(&done.json()), (500, 0));
    assert_eq!(server.requests(), 500);
}

/// All that was sent counts, also what ended in the second that was cut short.
#[test]
fn an_interrupted_run_tells_all_that_was_measured() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = format!("http://{}/light", server.listen);
    let words = [
        "run", &url, "-c", "3", "-d", "10min", "--json", "a.json", "--hlog", "a.hlog", "--junit",
        "a.xml",
    ];
    let mut running = place.start(&words);
    running.wait_for("some requests", PATIENCE, |_| {
        (server.requests() > 20).then_some(())
    });
    running.signal(Signal::INT);
    running
        .done(PATIENCE)
        .ends(130)
        .says(&["stopping", "interrupted after"]);
    let result = serde_json::from_str(&place.read("a.json")).unwrap();
    assert_eq!(samples(&result), (server.requests(), 0));
    let logged = IntervalHistograms::read_hlog(place.read("a.hlog").as_bytes()).unwrap();
    let logged = logged.merged(0..1_000, None).unwrap().len();
    assert_eq!(logged, server.requests());
    assert!(place.read("a.xml").contains("the run was interrupted"));
}

#[test]
fn what_would_be_learnt_too_late_is_said_before_anything_is_sent() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = format!("http://{}/light", server.listen);
    for (words, code, says) in [
        (
            &["shop.local/light"][..],
            2,
            "write http://shop.local/light",
        ),
        (&["ftp://127.0.0.1/"], 2, "http:// or https://"),
        (&[&url, "-b", "@no-such-file"], 2, "no-such-file"),
        (&[&url, "-d", "@body.json"], 2, "-b @FILE"),
        (&["--urls", "no-such-list"], 2, "no-such-list"),
        (&["-t4", "-c100", &url], 2, "the threads of wrk"),
        (&["http://no-such-host.invalid/"], 3, "no-such-host.invalid"),
        (&[&url, "--json", "no/such/a.json"], 3, "no/such/a.json"),
        (&[&url, "--junit", "no/such/a.xml"], 3, "no/such/a.xml"),
        (&[&url, "--hlog", "no/such/a.hlog"], 3, "no/such/a.hlog"),
        (&[&url, "--load-cpus", "0,999"], 2, "there is no CPU 999"),
        (&[&url, "--target-pid", "4194304"], 2, "no such process"),
        (&[&url, "-m", "GET IT"], 2, "one word"),
        (&[&url, "-H", "a: b\r\nc: d"], 2, "on one line"),
        (&[&url, "--rate", "-5"], 2, "--rate"),
    ] {
        let words = [&["run"], words].concat();
        place.weir(&words).ends(code).says(&[says]);
    }
    assert_eq!(server.requests(), 0);
    assert!(place.names().is_empty());
}

/// What is asked for at a rate is sent to the request, and the figures say what the response time
/// is made of. Whether the machine was fast enough is not asked here.
#[test]
fn a_rate_is_kept_to_the_request() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = format!("http://{}/light", server.listen);
    let words = [
        "run",
        &url,
        "--rate",
        "100..300/500ms,200",
        "-d",
        "1s",
        "-c",
        "16",
        "--json",
        "-",
    ];
    let done = place
        .weir(&words)
        .ends_one_of(&[0, 4])
        .says(&["from the intended start", "lateness of the load generator"]);
    let result = done.json();
    assert_valid("docs/schemas/run.schema.json", &result);
    assert_eq!(samples(&result), (200, 0));
    assert_eq!(server.requests(), 200);
    let open = &result["trial"]["open"];
    assert_eq!(open["samples"], 200);
    assert_eq!(open["not_started"], 0);
    let longest = |figure: &serde_json::Value| figure["max"].as_f64().unwrap();
    let response = longest(&result["trial"]["response_time_ms"]);
    assert!(response >= 0.99 * longest(&open["service_time_ms"]));
    place.weir(&["run", &url, "--arrivals", "poisson"]).ends(2);
    place
        .weir(&["run", &url, "--rate", "fast"])
        .ends(2)
        .says(&["100..2000/60s"]);
}

#[test]
fn a_plan_writes_jmeters_rows_and_appends_to_them() {
    /// JMeter 5.6's default columns, `jmeter.save.saveservice.*`.
    const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
                          failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
    let server = SampleServer::start();
    let place = Place::with_plan();
    let done = run_short_plan(&place, &server);
    assert_jmeters_console(&done.stdout);
    let result = serde_json::from_str(&place.read("out.json")).unwrap();
    assert_valid("docs/schemas/run.schema.json", &result);
    let jtl = place.read("out.jtl");
    assert_eq!(jtl.lines().next(), Some(HEADER));
    let first = rows(&jtl);
    assert!(first.iter().all(|row| row.len() == 17));
    assert_eq!((first.len() as u64, 0), samples(&result));
    assert_eq!(first.len() as u64, server.requests());
    users_start_one_by_one(&first);

    run_short_plan(&place, &server);
    let both = place.read("out.jtl");
    assert!(both.starts_with(&jtl), "the rows of the first run stay");
    assert_eq!(both.matches("timeStamp").count(), 1);
    assert_eq!(rows(&both).len() as u64, server.requests());
}

/// Three users in a ramp of a second: the second and the third come a third of a second after the
/// one before. Their first think times differ by less, and only the order is asserted.
fn users_start_one_by_one(rows: &[Vec<&str>]) {
    let first_of = |user: u32| -> u64 {
        let name = format!("CPU-heavy users 1-{user}");
        let of_user = rows.iter().filter(|row| row[5] == name);
        let first = of_user.map(|row| row[0].parse().unwrap()).min();
        first.unwrap_or_else(|| panic!("{name} sent something"))
    };
    let firsts = [1, 2, 3].map(first_of);
    assert!(firsts.is_sorted(), "{firsts:?}");
    let known = |row: &Vec<&str>| {
        [
            "CPU-heavy users 1-1",
            "CPU-heavy users 1-2",
            "CPU-heavy users 1-3",
        ]
        .contains(&row[5])
    };
    assert!(rows.iter().all(known));
    let all_threads = rows.iter().map(|row| row[12].parse::<u32>().unwrap());
    assert_eq!(all_threads.max(), Some(3));
}
