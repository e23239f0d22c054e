//! Plans run here and by JMeter 5.6.3 give the same requests and the same rows.
//!
//! `cases/` holds plans of ours with what JMeter wrote for them: those that were recorded once and
//! for all (`cf`, `data`, `func`, `struct`), and those that [`jmeter`] records anew. Plans of
//! JMeter's own tests, with the files that it must write for them, are read in
//! `../shared/jmeter/suite` beside the workspace, if they are there.
//!
//! Compared is, for each user in its order, everything that the files say but for what [`files`]
//! leaves out; of requests, the request line, the header and the body.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests state what must hold"
)]

pub(crate) mod files;
pub(crate) mod jmeter;
pub(crate) mod native;
pub(crate) mod server;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use files::{ByUser, csv, same, without_alive, without_boundary, xml};
use native::{Left, Native};
use server::CaseServer;
use weir_record::{JtlReader, SampleRow};

/// The port that a recording shows.
const RECORDED_PORT: u16 = 18_231;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded/cases")
        .join(name)
}

fn recorded(name: &str) -> String {
    std::fs::read_to_string(case(name)).unwrap()
}

/// Runs a plan against a server of its own.
fn run(plan: &Path, properties: &[(&str, &str)]) -> (Left, CaseServer) {
    let server = CaseServer::start();
    let native = Native {
        plan,
        properties,
        port: Some(server.port),
        stop_after: None,
    };
    (native.run(), server)
}

/// What all that a result file can say is switched on with.
pub(crate) const EVERYTHING: [(&str, &str); 7] = [
    ("jmeter.save.saveservice.output_format", "xml"),
    ("jmeter.save.saveservice.response_data", "true"),
    ("jmeter.save.saveservice.samplerData", "true"),
    ("jmeter.save.saveservice.requestHeaders", "true"),
    ("jmeter.save.saveservice.responseHeaders", "true"),
    ("jmeter.save.saveservice.encoding", "true"),
    ("jmeter.save.saveservice.sample_count", "true"),
];
/// The variables that our plans show.
const SHOWN: (&str, &str) = ("sample_variables", "v,w");

/// A file that shows of samples and their parts only what every row has.
const LITTLE: [(&str, &str); 4] = [
    ("jmeter.save.saveservice.output_format", "xml"),
    ("jmeter.save.saveservice.assertion_results", "none"),
    ("jmeter.save.saveservice.encoding", "false"),
    ("jmeter.save.saveservice.filename", "false"),
];

/// Compares one of our plans with what JMeter makes of it, or records that; the files of its
/// listeners too.
#[track_caller]
fn check(name: &str, listeners: &[&str]) {
    check_lasting(name, listeners, |rows| rows);
}

/// Checks what is left of the rows, where some of them is nobody's to say.
#[track_caller]
fn check_lasting(name: &str, listeners: &[&str], lasting: fn(ByUser) -> ByUser) {
    let plan = case(&format!("{name}.jmx"));
    if let Some(home) = jmeter::home() {
        let properties: Vec<_> = EVERYTHING.into_iter().chain([SHOWN]).collect();
        jmeter::record(&home, &plan, &properties);
        eprintln!("recorded {name}");
        return;
    }
    let server = CaseServer::start();
    let port = server.port.to_string();
    let properties: Vec<_> = EVERYTHING
        .into_iter()
        .chain([SHOWN, ("port", &*port)])
        .collect();
    let left = Native {
        plan: &plan,
        properties: &properties,
        port: None,
        stop_after: None,
    }
    .run();
    let here = xml(&jmeter::without_folder(&left.results()), server.port);
    let theirs = xml(&recorded(&format!("{name}.xml")), 0);
    same(&lasting(here), &lasting(theirs), name);
    if !PARTS_DIFFER.contains(&name) {
        let in_rows = in_rows(&left.results());
        assert_eq!(left.counted, in_rows, "{name}: counted, and in rows");
    }
    let asked = plan.with_extension("requests");
    let asked = if asked.exists() {
        std::fs::read_to_string(asked).unwrap()
    } else {
        String::new()
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let asked_here = jmeter::listed(&server.requests());
    for (own, recorded) in lines(&asked_here).iter().zip(&lines(&asked)) {
        let (own, recorded) = (without_boundary(own), without_boundary(recorded));
        assert_eq!(own, recorded, "{name}: requests");
    }
    assert_eq!(
        asked_here.lines().count(),
        asked.lines().count(),
        "{name}: requests"
    );
    for file in listeners {
        assert_eq!(left.file(file), recorded(file), "{name}: {file}");
    }
    judged_alike_in_small_files(name, &plan, &left.results(), server.port);
}

/// What a file shows of a sample changes nothing of how the sample is judged: the plan runs once
/// more with a file of rows alone.
#[track_caller]
fn judged_alike_in_small_files(name: &str, plan: &Path, large: &str, large_port: u16) {
    let server = CaseServer::start();
    let port = server.port.to_string();
    let left = Native {
        plan,
        properties: &LITTLE
            .into_iter()
            .chain([("port", &*port)])
            .collect::<Vec<_>>(),
        port: None,
        stop_after: None,
    }
    .run();
    let large = verdicts(large, large_port);
    let small = verdicts(&left.results(), server.port);
    // Groups that run for a time take another number of samples.
    for (user, small) in &small {
        let large = large.get(user).map(Vec::as_slice).unwrap_or_default();
        let both = small.len().min(large.len());
        assert_eq!(small[..both], large[..both], "{name}: {user}");
    }
    assert_eq!(small.len(), large.len(), "{name}: users");
}

/// Plans with transactions whose samples are counted and in no row, because JMeter loses the
/// transaction, or were counted before a script changed them with the transaction.
const PARTS_DIFFER: [&str; 6] = [
    "controllers",
    "nested",
    "parallel",
    "parts-of-transactions",
    "script-listeners",
    "transactions",
];

/// The samples in a result file, and those of them that failed: of transactions those inside, of
/// transactions beside their children none.
fn in_rows(results: &str) -> (u64, u64) {
    fn add(row: &SampleRow, sums: &mut (u64, u64)) {
        let is_whole = !row.is_http && !row.children.is_empty();
        if row.is_transaction || is_whole {
            row.children.iter().for_each(|part| add(part, sums));
        } else {
            sums.0 += 1;
            sums.1 += u64::from(!row.success);
        }
    }
    let mut sums = (0, 0);
    for row in JtlReader::new(results.as_bytes()).unwrap() {
        add(&row.unwrap(), &mut sums);
    }
    sums
}

/// What the rows of each user say of success.
fn verdicts(results: &str, port: u16) -> ByUser {
    let mut users = ByUser::new();
    let results = results.replace(&format!("127.0.0.1:{port}"), "HOST");
    for sample in JtlReader::new(results.as_bytes()).unwrap() {
        let sample = sample.unwrap();
        let says = sample.depth_first().map(|sample| {
            let (label, code) = (&sample.label, &sample.response_code);
            format!(
                "{label} {code} {} {}",
                sample.response_message, sample.success
            )
        });
        let rows = users.entry(sample.thread_name.to_string()).or_default();
        rows.extend(says);
    }
    users
}

/// One group of the plan runs for a second: how many samples that takes, and who is alive at the
/// end of the last ones, is nobody's to say.
#[test]
fn transactions_and_phases() {
    let (left, server) = run(&case("struct.jmx"), &[]);
    let lasting = |rows: ByUser| -> ByUser {
        let mut rows = without_alive(rows);
        for (_, rows) in rows
            .iter_mut()
            .filter(|(user, _)| user.starts_with("sched "))
        {
            assert!(rows.len() > 3, "{}", rows.len());
            rows.truncate(3);
        }
        rows
    };
    let here = csv(&left.results(), server.port);
    let jmeter = csv(&recorded("struct.jtl"), 0);
    same(&lasting(here), &lasting(jmeter), "struct.jtl");
    let here = xml(&left.file("xmlout"), server.port);
    let jmeter = xml(&recorded("struct.xml"), 0);
    same(&lasting(here), &lasting(jmeter), "struct.xml");
}

/// Groups one after another, an Open Model, the throughput and synchronizing timers, users that
/// end.
#[test]
fn groups_and_timers_with_schedules() {
    let (left, server) = run(&case("paced.jmx"), &[]);
    let here = without_alive(csv(&left.results(), server.port));
    let jmeter = without_alive(csv(&recorded("paced.jtl"), 0));
    same(&here, &jmeter, "paced.jtl");
}

#[test]
fn data_sets_extractors_and_controllers() {
    let (left, server) = run(&case("data.jmx"), &[]);
    let here = csv(&left.results(), server.port);
    same(
        &here,
        &csv(&recorded("data.jtl"), RECORDED_PORT),
        "data.jtl",
    );
    let here = xml(&left.file("xmlout"), server.port);
    same(
        &here,
        &xml(&recorded("data.xml"), RECORDED_PORT),
        "data.xml",
    );
}

/// JMeter's thread ends after these rows, at a label that asks for its own name for ever.
#[test]
fn functions() {
    let (left, server) = run(&case("func.jmx"), &[]);
    // What is told of the time differs.
    let untimed = |rows: ByUser| -> ByUser {
        let is_timed = |row: &String| row.contains("label=34 time =>");
        let keep = |rows: Vec<String>| rows.into_iter().filter(|row| !is_timed(row)).collect();
        rows.into_iter()
            .map(|(user, rows)| (user, keep(rows)))
            .collect()
    };
    let mut here = untimed(csv(&left.results(), server.port));
    let jmeter = untimed(csv(&recorded("func.jtl"), 0));
    for (user, rows) in &mut here {
        rows.truncate(jmeter[user].len());
    }
    same(&here, &jmeter, "func.jtl");
}

/// A missing or true `continue_forever` of a group's loop is more than its number of loops; of this
/// plan JMeter's console was recorded: it went on until it was stopped.
#[test]
fn groups_that_continue_forever() {
    let native = Native {
        plan: &case("cf.jmx"),
        properties: &[],
        port: None,
        stop_after: Some(Duration::from_secs(1)),
    };
    let rows = csv(&native.run().results(), 0);
    let rows = &rows["CF 1-1"];
    assert!(rows.len() > 2, "{rows:?}");
    let label = "label=cf ${__jm__CF__idx} | responseCode=200";
    assert!(rows.iter().all(|row| row.starts_with(label)), "{rows:?}");
}

/// Users that never wait for anything, more of them than CPUs, with a result file.
#[test]
fn users_that_wait_for_nothing_hear_of_the_end() {
    let native = Native {
        plan: &case("endless.jmx"),
        properties: &[],
        port: None,
        stop_after: Some(Duration::from_millis(500)),
    };
    let began = Instant::now();
    let rows = csv(&native.run().results(), 0);
    // Only a load that goes on takes that long.
    assert!(began.elapsed() < Duration::from_secs(60));
    let mut groups: Vec<&str> = rows
        .keys()
        .filter_map(|user| user.split(' ').next())
        .collect();
    groups.sort_unstable();
    assert_eq!(
        groups.chunk_by(|one, next| one == next).count(),
        3,
        "{groups:?}"
    );
    assert_eq!(groups.len(), 9, "all had their turn: {groups:?}");
}

#[test]
fn controllers_in_each_other() {
    check("controllers", &[]);
}

#[test]
fn transactions_in_each_other_and_cut_short() {
    check("transactions", &[]);
}

/// Transactions that are left from inside, judged with their parts, stopped; locks that are waited
/// for in them; variables at their end.
#[test]
fn transactions_left_and_stopped() {
    check("nested", &[]);
}

#[test]
fn ways_out_of_loops() {
    check("flow", &[]);
}

/// What plans of other people asked for that no other case here does.
#[test]
fn found_in_other_plans() {
    check("found", &[]);
}

#[test]
fn a_test_that_is_stopped_by_its_plan() {
    check("stops", &[]);
    check("stops-without-teardown", &[]);
    // Who is alive when the first of two users sends depends on how soon the other one started.
    check_lasting("stops-now", &[], without_alive);
}

/// After a stop in a set-up or tear-down group nothing follows, whatever the plan says of
/// tear-down.
#[test]
fn a_test_that_is_stopped_before_or_after_its_main_groups() {
    check("stops-in-set-up", &[]);
    check("stops-in-tear-down", &[]);
}

#[test]
fn data_of_several_users() {
    check("users", &[]);
}

#[test]
fn headers_defaults_and_outcomes() {
    check("headers", &[]);
}

#[test]
fn what_responses_say() {
    check("responses", &[]);
}

/// Texts that are no numbers where numbers belong.
#[test]
fn words_instead_of_numbers() {
    check("words", &[]);
}

/// What functions that run scripts see of the sample before.
#[test]
fn samples_before_in_functions() {
    check("previous", &[]);
}

/// Nodes of a file one after the other, over users and expressions; an Include Controller without a
/// file.
#[test]
fn nodes_of_xml_files() {
    check("xpath", &[]);
}

#[test]
fn bsf_elements() {
    check("bsf", &[]);
}

/// Recorded with jp@gc plugins 1.4.0 and 0.4 in JMeter.
#[test]
fn plugin_elements() {
    check("plugins", &[]);
}

/// Recorded with the jp@gc plugin 0.4 of this controller alone; that in the Extras set 1.4.0 sets
/// its variables once an iteration.
#[test]
fn parameterized_controllers() {
    check("parameterized", &[]);
}

/// Recorded with version 0.12 of the plugin in JMeter. The steps end one after the other, so that
/// it is the order of their samples too.
#[test]
fn steps_at_once() {
    check("parallel", &[]);
}

#[test]
fn waits() {
    check("timers", &[]);
}

#[test]
fn scripts_as_samplers() {
    check("scripts-samplers", &[]);
}

/// In which order JMeter looks at the texts of a sampler, how often, and what scripts and the start
/// of the test add to that.
#[test]
fn texts_are_made_where_somebody_looks() {
    check("looks", &[]);
}

/// `RegEx User Parameters`: what an extractor found for a name becomes the parameter's value.
#[test]
fn parameters_that_were_found() {
    check("found-parameters", &[]);
}

/// `HTTP URL Re-writing Modifier`, and paths and arguments that scripts give a request.
#[test]
fn requests_whose_url_is_rewritten() {
    check("rewritten-urls", &[]);
}

/// What scripts see of a Cookie Manager, and make of its cookies.
#[test]
fn cookies_in_scripts() {
    check("script-cookies", &[]);
}

/// Bodies that are not UTF-8, streams, files, calendars and time zones in scripts.
#[test]
fn bytes_in_scripts() {
    check("script-bytes", &[]);
}

/// Each user asks how often it goes through its group, once, when it starts.
#[test]
fn counts_of_iterations_are_asked_for_by_each_user() {
    check("group-loops", &[]);
}

#[test]
fn counts_of_loops_are_asked_for_once() {
    check("loop-counts", &[]);
}

#[test]
fn samples_that_scripts_change_are_counted_as_in_rows() {
    check("changed-by-scripts", &[]);
}

#[test]
fn script_listeners_and_those_after_them() {
    check("script-listeners", &[]);
}

#[test]
fn conditions_and_functions_that_fail() {
    check("failing", &[]);
}

#[test]
fn fields_of_headers_are_made_for_each_request() {
    check("fields-made-anew", &[]);
}

#[test]
fn parts_of_transactions_are_looked_into() {
    check("parts-of-transactions", &[]);
}

#[test]
fn scripts_before_samplers() {
    check("scripts-before", &[]);
}

#[test]
fn scripts_after_samplers() {
    check("scripts-after", &[]);
}

#[test]
fn scripts_that_lead() {
    check("scripts-ways", &[]);
    check("scripts-stops", &[]);
}

#[test]
fn scripts_that_listen() {
    check("scripts-listeners", &[]);
}

#[test]
fn files_of_listeners() {
    let files = [
        "all.csv",
        "errors.csv",
        "successes.csv",
        "twice.csv",
        "transaction.csv",
        "part.csv",
        "added.csv",
        "deep.csv",
        "never.csv",
        "all.xml",
        "late.xml",
    ];
    let files = files.map(|name| format!("listeners-{name}"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    check("listeners", &files);
}

/// The folder of JMeter's own tests beside the workspace; says so when it is not there.
fn suite() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = root.join("../shared/jmeter/suite");
    if found.is_dir() {
        return Some(found);
    }
    println!("no plans of JMeter's own tests beside the workspace: nothing was compared");
    None
}

/// Runs one of JMeter's own tests as it says: with its batch properties, so that the listeners in
/// the plan write a CSV and an XML file that are the expected ones to the byte.
#[track_caller]
fn check_suite(name: &str) {
    let Some(suite) = suite() else {
        return;
    };
    let batch = std::fs::read_to_string(suite.join("jmeter-batch.properties")).unwrap();
    let batch = batch.lines().filter(|line| !line.starts_with('#'));
    let mut properties: Vec<_> = batch.filter_map(|line| line.split_once('=')).collect();
    properties.push(("module", "Module"));
    // One plan names a file from where JMeter's developers start it.
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    for entry in std::fs::read_dir(&suite).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().unwrap_or_default();
        if extension == "jmx" || extension == "txt" {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.replace("(testfiles/", &format!("({here}/"));
            std::fs::write(folder.path().join(path.file_name().unwrap()), text).unwrap();
        }
    }
    let (left, _server) = run(&folder.path().join(format!("{name}.jmx")), &properties);
    for ending in ["csv", "xml"] {
        let file = format!("{name}.{ending}");
        let expected = std::fs::read_to_string(suite.join(&file)).unwrap();
        let of_property = ending == "csv" && name == "BatchTestLocal";
        let written = left.file(if of_property { "CSVFILE" } else { &file });
        for (at, (own, theirs)) in written.lines().zip(expected.lines()).enumerate() {
            assert_eq!(own, theirs, "{file}: line {}", at + 1);
        }
        assert_eq!(written.len(), expected.len(), "{file}");
    }
}

#[test]
fn suite_bug_55375() {
    check_suite("Bug55375");
}

#[test]
fn suite_bug_62847() {
    check_suite("BUG_62847");
}

#[test]
fn suite_bug_52968() {
    check_suite("Bug52968");
}

#[test]
fn suite_bug_56243() {
    check_suite("Bug56243");
}

#[test]
fn suite_header_manager() {
    check_suite("TestHeaderManager");
}

#[test]
fn suite_result_status_action() {
    check_suite("TestResultStatusAction");
}

/// Samplers of all languages, a BSF Sampler among them.
#[test]
fn suite_batch_test_local() {
    check_suite("BatchTestLocal");
}
