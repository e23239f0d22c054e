//! Plans that are kept to their own folder with `--sandbox`, and what `weir check` says a plan
//! reaches. Without `--sandbox` all of these plans work, so that what is tried are plans that would
//! have worked.

use std::fs;

use crate::reach::{Ground, SECRET, http, readers, script, writers};
use crate::support::{assert_valid, repository_file};

const RUN: [&str; 4] = ["run", "-n", "-t", "plans/p.jmx"];

/// `RUN` with more words.
fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], more].concat()
}

#[test]
fn a_sandbox_does_not_read_what_lies_beside_the_run() {
    let ground = Ground::new();
    for (who, steps, content) in readers() {
        ground.place.write("data", content);
        ground.plan(&steps.replace("FILE", "data"));
        ground.place.weir(&RUN).ends(0);
        assert!(ground.ears.heard().contains(SECRET), "{who}");
        let check = ground.place.weir(&["check", "plans/p.jmx", "--sandbox"]);
        check
            .ends(2)
            .prints(&["refused, outside the plan's folder (--sandbox)"]);
        let done = ground.place.weir(&run(&["--sandbox"])).ends(2);
        done.says(&["outside the plan's folder (--sandbox)", "--allow-files"]);
        assert_eq!(ground.ears.heard(), "", "{who}");
        // What the user names is within reach all the same.
        ground
            .place
            .weir(&run(&["--sandbox", "--allow-files", "data"]))
            .ends(0);
        assert!(ground.ears.heard().contains(SECRET), "{who}");
        fs::remove_file(ground.place.path("data")).unwrap();
        // So is what lies beside the plan. Scripts find files from where Weir is run.
        if who.starts_with("a script in") {
            continue;
        }
        ground.place.write("plans/data", content);
        ground.place.weir(&run(&["--sandbox"])).ends(0);
        assert!(ground.ears.heard().contains(SECRET), "{who}");
        fs::remove_file(ground.place.path("plans/data")).unwrap();
    }
}

/// What is known only at run time fails there, also where it leads out of the folder again.
#[test]
fn a_sandbox_holds_for_names_that_are_made_at_run_time() {
    let ground = Ground::new();
    ground.place.write("data", SECRET);
    ground.place.write("plans/own", "own");
    for name in ["data", "plans/../data", "./data"] {
        let steps = format!("/?v=${{__FileToString(${{__javaScript('{name}')}},,)}}");
        ground.plan(&http(&steps, ""));
        ground.place.weir(&RUN).ends(0);
        assert!(ground.ears.heard().contains(SECRET), "{name}");
        let done = ground.place.weir(&run(&["--sandbox"])).ends(4);
        done.says(&["the plan may not read", "--allow-files"]);
        assert!(!ground.ears.heard().contains(SECRET), "{name}");
    }
    // A value of the command line is the user's own word.
    ground.plan(&http("/?v=${__FileToString(${__P(file)},,)}", ""));
    ground
        .place
        .weir(&run(&["--sandbox", "-Jfile=data"]))
        .ends(0);
    assert!(ground.ears.heard().contains(SECRET));
}

#[test]
fn a_sandbox_does_not_write_beside_the_run() {
    let ground = Ground::new();
    let made = ground.place.path("made");
    for (who, steps) in writers() {
        ground.plan(&steps.replace("FILE", "made"));
        ground.place.weir(&RUN);
        assert!(made.exists(), "{who}");
        fs::remove_file(&made).unwrap();
        let done = ground.place.weir(&run(&["--sandbox"]));
        done.ends_one_of(&[2, 3, 4]).says(&["--allow-files"]);
        assert!(!made.exists(), "{who}");
        ground.plan(&steps.replace("FILE", "plans/made"));
        ground.place.weir(&run(&["--sandbox"])).ends(0);
        fs::remove_file(ground.place.path("plans/made")).unwrap();
    }
    // Files that options name are the user's.
    ground.plan(&http("/", ""));
    ground
        .place
        .weir(&run(&["--sandbox", "-l", "rows.jtl"]))
        .ends(0);
    assert!(ground.place.read("rows.jtl").lines().count() > 1);
}

/// A study may have come with the plan: neither its folder nor what it allows counts.
#[test]
fn a_sandbox_holds_for_the_plan_of_a_study() {
    let ground = Ground::new();
    ground.place.write("data", SECRET);
    let text = repository_file("studies/default.toml");
    let line = text.lines().find(|line| line.starts_with("plan")).unwrap();
    let plan = "plan = \"plans/p.jmx\"\nallow-files = [\"data\"]";
    ground.place.write("study.toml", &text.replace(line, plan));
    ground.plan(&http(
        "/?u=${__P(THREAD_NUMBER,1)}&amp;v=${__FileToString(data,,)}",
        "",
    ));
    for words in [
        &["check", "study.toml"][..],
        &["tune", "study.toml", "--dry-run"],
    ] {
        ground.place.weir(words).ends(0);
        let kept = [words, &["--sandbox"]].concat();
        let done = ground.place.weir(&kept).ends(2);
        done.says(&["outside the plan's folder (--sandbox)"]);
        let named = [&kept[..], &["--allow-files", "data"]].concat();
        ground.place.weir(&named).ends(0);
    }
    assert_eq!(ground.ears.heard(), "");
}

#[test]
fn a_jmeter_is_not_started_in_a_sandbox() {
    let ground = Ground::new();
    ground.plan(&http("/", ""));
    let done = ground
        .place
        .weir(&run(&["--sandbox", "--engine", "jmeter"]))
        .ends(2);
    done.says(&["--sandbox: Weir cannot keep a JMeter to some files"]);
    assert_eq!(ground.ears.heard(), "");
    // Without trials there is no plan to keep.
    for option in [&["--sandbox"][..], &["--allow-files", "x"]] {
        let words = [&["explain", "last"], option].concat();
        ground.place.weir(&words).ends(2).says(&["--run"]);
    }
}

/// Servers, scripts and the machine are told before the run, to people and to programs.
#[test]
fn checks_say_what_a_plan_reaches() {
    let ground = Ground::new();
    let steps = script("JSR223Sampler", "vars.put('v', '1')", "")
        + &http(
            "/?v=${__groovy(1 + 1)}&amp;m=${__machineName}&amp;i=${__machineIP()}",
            "",
        )
        + &http("/?v=${__javaScript(1 + 1)}", "");
    ground.plan(&steps);
    let plan = ground.place.read("plans/p.jmx");
    let port = plan
        .split("HTTPSampler.port\">")
        .nth(1)
        .and_then(|rest| rest.split('<').next())
        .unwrap();
    let line = 1 + plan[..plan.find("<JSR223Sampler").unwrap()]
        .matches('\n')
        .count();
    let check = ground
        .place
        .weir(&["check", "plans/p.jmx", "--json", "check.json"])
        .ends(0);
    let server = format!("http://127.0.0.1:{port}");
    check.prints(&[
        &format!("plans/p.jmx: requests go to {server} (line {line})"),
        &format!("plans/p.jmx: 1 script in JavaScript (line {line}): variables, properties"),
        &format!("plans/p.jmx: 2 scripts in Groovy (line {line}): "),
        "no environment, no other programs, no connections",
        "__machineName (line",
        "tells the plan this machine's name",
        "__machineIP (line",
        "tells the plan this machine's address",
        "with --engine jmeter a plan may do whatever you may",
    ]);
    let found: serde_json::Value = serde_json::from_str(&ground.place.read("check.json")).unwrap();
    assert_valid("docs/schemas/check.schema.json", &found);
    let of_plan = &found["files"][0];
    assert_eq!(of_plan["servers"][0]["server"], *server);
    let languages: Vec<&str> = of_plan["scripts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|script| script["language"].as_str().unwrap())
        .collect();
    assert_eq!(languages.len(), 3, "{languages:?}");
    assert_eq!(of_plan["machine"].as_array().unwrap().len(), 2);
    // A plan that reaches nothing else is not said to.
    ground.plan(&http("/", ""));
    let check = ground.place.weir(&["check", "plans/p.jmx"]).ends(0);
    assert!(!check.stdout.contains("script"), "{check}");
    assert!(!check.stdout.contains("machine"), "{check}");
    assert_eq!(ground.ears.heard(), "");
}

/// Scripts that try to start a program, open a connection, or read the environment. What they would
/// have done has not been done, and nearly all of them are known before the run.
#[test]
fn scripts_reach_no_programs_connections_or_environment() {
    let ground = Ground::new();
    let port = ground.ears.port;
    let made = ground.place.path("made");
    let touch = format!("touch {}", made.display());
    let groovy = [
        format!("'{touch}'.execute()"),
        format!("Runtime.getRuntime().exec('{touch}')"),
        format!("new ProcessBuilder('touch', '{}').start()", made.display()),
        format!("new Socket('127.0.0.1', {port}).outputStream.write(65)"),
        format!("vars.put('v', new URL('http://127.0.0.1:{port}/url').text)"),
        format!("'http://127.0.0.1:{port}/text'.toURL().text"),
        "vars.put('v', System.getenv('PATH'))".to_owned(),
        "vars.put('v', System.getenv().toString())".to_owned(),
        "Class.forName('java.lang.Runtime')".to_owned(),
        "this.class.classLoader.loadClass('java.lang.Runtime')".to_owned(),
        "Eval.me('1')".to_owned(),
        "System.exit(0)".to_owned(),
        "Thread.start { }".to_owned(),
    ];
    for text in &groovy {
        let text = text.replace('&', "&amp;");
        ground.plan(&(script("JSR223Sampler", &text, "") + &http("/?sent=${v}", "")));
        let is_known_later = text.contains("new URL");
        let code = if is_known_later { 0 } else { 2 };
        ground.place.weir(&["check", "plans/p.jmx"]).ends(code);
        ground.place.weir(&RUN).ends(code);
        let heard = ground.ears.heard();
        if is_known_later {
            assert!(!heard.contains("GET /url"), "{text}: {heard}");
        } else {
            assert_eq!(heard, "", "{text}");
        }
        assert!(!made.exists(), "{text}");
    }
    let javascript = [
        "java.lang.System.getenv('PATH')",
        "Packages.java.lang.Runtime.getRuntime()",
        "require('child_process')",
        "os.getenv('PATH')",
        "std.getenv('PATH')",
        "std.popen('id', 'r')",
        "std.loadFile('/etc/passwd')",
        "new XMLHttpRequest()",
        "fetch('http://127.0.0.1')",
        "process.env.PATH",
        "Deno.env.get('PATH')",
        "load('/etc/passwd')",
        "import('os')",
    ];
    for text in javascript {
        ground.plan(&http(&format!("/?sent=${{__javaScript({text})}}end"), ""));
        ground.place.weir(&RUN).ends_one_of(&[0, 2, 4]);
        // Neither a folder of `PATH` nor a line of the file.
        let heard = ground.ears.heard();
        assert!(
            !heard.contains("bin") && !heard.contains("root"),
            "{text}: {heard}"
        );
    }
}
