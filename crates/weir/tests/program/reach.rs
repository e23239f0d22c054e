//! Plans that read and write files which are none of their business: listed by `weir check`,
//! refused by `weir run`, and what they wanted is neither sent nor written. With `--allow-files`
//! all of them work, so that what is tried here are plans that would have worked.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::{Place, assert_valid};

pub(crate) const SECRET: &str = "topsecret";

/// A server on this machine that keeps all that it receives.
pub(crate) struct Ears {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Ears {
    fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let into = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let into = Arc::clone(&into);
                thread::spawn(move || {
                    let mut stream = stream;
                    let patience = Duration::from_millis(200);
                    stream.set_read_timeout(Some(patience)).unwrap();
                    let mut bytes = [0; 4096];
                    let answer =
                        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
                    let mut request = Vec::new();
                    // Whatever comes within the patience is one request.
                    while let Ok(count @ 1..) = stream.read(&mut bytes) {
                        request.extend_from_slice(&bytes[..count]);
                        into.lock().unwrap().extend_from_slice(&bytes[..count]);
                        let is_get = request.starts_with(b"GET") && request.ends_with(b"\r\n\r\n");
                        if is_get || request.windows(9).any(|part| part == SECRET.as_bytes()) {
                            break;
                        }
                    }
                    let _ = stream.write_all(answer.as_bytes());
                });
            }
        });
        Self { port, heard }
    }

    pub(crate) fn heard(&self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut *self.heard.lock().unwrap())).into_owned()
    }
}

/// A place with plans, somebody else's folder, and a server.
pub(crate) struct Ground {
    pub(crate) place: Place,
    other: tempfile::TempDir,
    pub(crate) ears: Ears,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::new(),
            other: tempfile::tempdir().unwrap(),
            ears: Ears::open(),
        }
    }

    pub(crate) fn other(&self, name: &str) -> PathBuf {
        self.other.path().join(name)
    }

    /// Writes a plan with these steps before a request that sends the variable `v`.
    pub(crate) fn plan(&self, steps: &str) {
        let port = self.ears.port;
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\n\
             <ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
             <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
             <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
             <stringProp name=\"LoopController.loops\">1</stringProp></elementProp></ThreadGroup>\
             <hashTree>\n\
             <ConfigTestElement guiclass=\"HttpDefaultsGui\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
             <stringProp name=\"HTTPSampler.port\">{port}</stringProp></ConfigTestElement><hashTree/>\n\
             {steps}\n\
             </hashTree></hashTree></hashTree></jmeterTestPlan>"
        );
        self.place.write("plans/p.jmx", &text);
    }
}

pub(crate) fn http(path: &str, more: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"h\"><stringProp name=\"HTTPSampler.path\">{path}</stringProp>\
         {more}</HTTPSamplerProxy><hashTree/>"
    )
}

pub(crate) fn script(class: &str, text: &str, file: &str) -> String {
    let prefix = if class.starts_with("BeanShell") {
        "BeanShellSampler."
    } else {
        ""
    };
    let text_name = if prefix.is_empty() {
        "script"
    } else {
        "BeanShellSampler.query"
    };
    format!(
        "<{class} testname=\"s\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"{prefix}filename\">{file}</stringProp>\
         <stringProp name=\"{text_name}\">{text}</stringProp></{class}><hashTree/>"
    )
}

const SEND_V: &str = "/?v=${v}";

/// Steps that read `FILE` and send it, by their way, with the content that the file has for it.
pub(crate) fn readers() -> Vec<(&'static str, String, &'static str)> {
    let function = |call: &str| http(&format!("/?v={call}"), "");
    let data = "<CSVDataSet testname=\"c\"><stringProp name=\"filename\">FILE</stringProp>\
        <stringProp name=\"variableNames\">v</stringProp></CSVDataSet><hashTree/>";
    let upload = "<stringProp name=\"HTTPSampler.method\">POST</stringProp>\
        <elementProp name=\"HTTPsampler.Files\"><collectionProp name=\"HTTPFileArgs.files\">\
        <elementProp name=\"f\" elementType=\"HTTPFileArg\">\
        <stringProp name=\"File.path\">FILE</stringProp>\
        <stringProp name=\"File.paramname\">f</stringProp>\
        <stringProp name=\"File.mimetype\">text/plain</stringProp></elementProp>\
        </collectionProp></elementProp>";
    let sends = http(SEND_V, "");
    vec![
        ("CSV Data Set", format!("{data}{sends}"), SECRET),
        (
            "__FileToString",
            function("${__FileToString(FILE,,)}"),
            SECRET,
        ),
        (
            "__StringFromFile",
            function("${__StringFromFile(FILE,,,)}"),
            SECRET,
        ),
        ("__CSVRead", function("${__CSVRead(FILE,0)}"), SECRET),
        (
            "__XPath",
            function("${__XPath(FILE,//r)}"),
            "<r>topsecret</r>",
        ),
        ("HTTP Request", http("/upload", upload), SECRET),
        (
            "a script in Groovy",
            script("JSR223Sampler", "vars.put('v', new File('FILE').text)", "") + &sends,
            SECRET,
        ),
        (
            "a script in BeanShell",
            script(
                "BeanShellSampler",
                "r = new BufferedReader(new FileReader(\"FILE\")); vars.put(\"v\", r.readLine());",
                "",
            ) + &sends,
            SECRET,
        ),
        (
            "a script in Groovy",
            function("${__groovy(new File('FILE').text)}"),
            SECRET,
        ),
        (
            "script file",
            script("JSR223Sampler", "", "FILE") + &sends,
            "vars.put('v', 'topsecret')",
        ),
    ]
}

#[test]
fn plans_do_not_read_what_lies_elsewhere() {
    let ground = Ground::new();
    let file = ground.other("data");
    let whole = file.to_str().unwrap().to_owned();
    symlink(&file, ground.place.path("link")).unwrap();
    symlink(ground.other.path(), ground.place.path("up")).unwrap();
    let name = ground.other.path().file_name().unwrap().to_str().unwrap();
    let upwards = format!("../{name}/data");
    for (who, steps, content) in readers() {
        fs::write(&file, content).unwrap();
        for written in [&*whole, "link", "up/data", &upwards] {
            ground.plan(&steps.replace("FILE", written));
            let check = ground.place.weir(&["check", "plans/p.jmx"]).ends(2);
            let line = check.stdout.lines().find(|line| line.contains(who));
            let line = line.unwrap_or_else(|| panic!("{who}: {check}"));
            assert!(line.contains("line 4, column "), "{line}");
            assert!(
                line.contains(written) && line.contains(": refused"),
                "{line}"
            );
            assert!(line.contains(&format!("--allow-files {whole}")), "{line}");
            ground
                .place
                .weir(&["run", "-n", "-t", "plans/p.jmx"])
                .ends(2)
                .says(&[
                    "line 4, column ",
                    &whole,
                    "nothing was sent",
                    "--allow-files",
                ]);
            let heard = ground.ears.heard();
            assert_eq!(heard, "", "{who} {written}");
        }
        ground.plan(&steps.replace("FILE", &whole));
        for allowed in [&whole, ground.other.path().to_str().unwrap()] {
            let words = ["run", "-n", "-t", "plans/p.jmx", "--allow-files", allowed];
            ground.place.weir(&words).ends(0);
            let heard = ground.ears.heard();
            assert!(heard.contains(SECRET), "{who}: {heard}");
            let words = ["check", "plans/p.jmx", "--allow-files", allowed];
            ground
                .place
                .weir(&words)
                .ends(0)
                .prints(&["allowed", &whole]);
        }
    }
}

/// What is known only at run time fails there, is told, and is not passed off as a good run.
#[test]
fn names_that_are_made_at_run_time_are_refused_there() {
    let ground = Ground::new();
    let file = ground.other("data");
    let whole = file.to_str().unwrap().to_owned();
    for (who, steps, content) in readers() {
        fs::write(&file, content).unwrap();
        let steps = match who {
            "a script in Groovy" => steps.replace("'FILE'", &format!("'' + '{whole}'")),
            "a script in BeanShell" => steps.replace("\"FILE\"", &format!("\"\" + \"{whole}\"")),
            _ => steps.replace("FILE", &format!("${{__javaScript('{whole}')}}")),
        };
        ground.plan(&steps);
        let check = ground.place.weir(&["check", "plans/p.jmx"]).ends(0);
        assert!(
            check.stdout.contains("known only at run time"),
            "{who}: {check}"
        );
        let run = ground
            .place
            .weir(&["run", "-n", "-t", "plans/p.jmx"])
            .ends(4);
        let heard = ground.ears.heard();
        assert!(!heard.contains(SECRET), "{who}: {heard}");
        run.says(&[&format!("the plan may not read {whole}"), "--allow-files"]);
        let words = ["run", "-n", "-t", "plans/p.jmx", "--allow-files", &whole];
        ground.place.weir(&words).ends(0);
        let heard = ground.ears.heard();
        assert!(heard.contains(SECRET), "{who}: {heard}");
    }
}

/// A variable of the user is read when the plan is made ready, before any request, also by `check`.
#[test]
fn variables_of_the_plan_are_no_way_out() {
    let ground = Ground::new();
    let file = ground.other("data");
    fs::write(&file, SECRET).unwrap();
    let made = ground.other("made");
    let variables = |value: &str| {
        format!(
            "<Arguments testname=\"u\"><collectionProp name=\"Arguments.arguments\">\
             <elementProp name=\"v\" elementType=\"Argument\"><stringProp name=\"Argument.name\">v</stringProp>\
             <stringProp name=\"Argument.value\">{value}</stringProp></elementProp></collectionProp>\
             </Arguments><hashTree/>{}",
            http(SEND_V, "")
        )
    };
    for name in [
        format!("${{__FileToString({},,)}}", file.display()),
        format!(
            "${{__javaScript('')}}${{__StringToFile({},x)}}",
            made.display()
        ),
    ] {
        ground.plan(&variables(&name));
        ground.place.weir(&["check", "plans/p.jmx"]).ends(2);
        ground
            .place
            .weir(&["run", "-n", "-t", "plans/p.jmx"])
            .ends(2);
        assert_eq!(ground.ears.heard(), "");
        assert!(!made.exists());
    }
    // Looking at a plan does not write within reach either.
    ground.plan(&variables("${__StringToFile(mine,x)}"));
    ground.place.weir(&["check", "plans/p.jmx"]).ends(0);
    assert!(!ground.place.path("mine").exists());
    ground
        .place
        .weir(&["run", "-n", "-t", "plans/p.jmx"])
        .ends(0);
    assert_eq!(ground.place.read("mine"), "x");
}

/// Steps that write `FILE`.
pub(crate) fn writers() -> Vec<(&'static str, String)> {
    let listener = "<ResultCollector testname=\"l\"><stringProp name=\"filename\">FILE</stringProp>\
        </ResultCollector><hashTree/>";
    vec![
        ("a listener", listener.to_owned() + &http("/", "")),
        ("__StringToFile", http("/?v=${__StringToFile(FILE,x)}", "")),
        (
            "a script in Groovy",
            script("JSR223Sampler", "new File('FILE').append('x')", ""),
        ),
        (
            "a script in BeanShell",
            script(
                "BeanShellSampler",
                "w = new FileWriter(\"FILE\", true); w.write(\"x\"); w.close();",
                "",
            ),
        ),
    ]
}

#[test]
fn plans_do_not_write_what_lies_elsewhere() {
    let ground = Ground::new();
    let file = ground.other("made");
    let whole = file.to_str().unwrap().to_owned();
    let kept = ground.other("kept");
    fs::write(&kept, "mine").unwrap();
    symlink(&kept, ground.place.path("kept")).unwrap();
    symlink(&file, ground.place.path("dangling")).unwrap();
    for (who, steps) in writers() {
        for written in [&*whole, "kept", "dangling", ".bashrc"] {
            ground.plan(&steps.replace("FILE", written));
            let check = ground.place.weir(&["check", "plans/p.jmx"]).ends(2);
            let line = check.stdout.lines().find(|line| line.contains(who));
            let line = line.unwrap_or_else(|| panic!("{who}: {check}"));
            assert!(
                line.contains("writes") && line.contains(": refused"),
                "{line}"
            );
            let run = ["run", "-n", "-t", "plans/p.jmx"];
            ground.place.weir(&run).ends(2).says(&["--allow-files"]);
            assert!(
                !file.exists() && !ground.place.path(".bashrc").exists(),
                "{who}"
            );
            assert_eq!(fs::read(&kept).unwrap(), b"mine", "{who}");
        }
        let later = match who {
            "a script in Groovy" => steps.replace("'FILE'", &format!("'' + '{whole}'")),
            "a script in BeanShell" => steps.replace("\"FILE\"", &format!("\"\" + \"{whole}\"")),
            _ => steps.replace("FILE", &format!("${{__javaScript('{whole}')}}")),
        };
        ground.plan(&later);
        let run = ground.place.weir(&["run", "-n", "-t", "plans/p.jmx"]);
        run.ends_one_of(&[3, 4]).says(&["--allow-files", &whole]);
        assert!(!file.exists(), "{who}");
        let words = ["run", "-n", "-t", "plans/p.jmx", "--allow-files", &whole];
        ground.place.weir(&words).ends(0);
        assert!(file.exists(), "{who}");
        fs::remove_file(&file).unwrap();
        // Within reach all of it works as before.
        ground.plan(&steps.replace("FILE", "own.out"));
        ground
            .place
            .weir(&["run", "-n", "-t", "plans/p.jmx"])
            .ends(0);
        fs::remove_file(ground.place.path("own.out")).unwrap();
    }
}

#[test]
fn plans_do_not_include_what_lies_elsewhere() {
    let ground = Ground::new();
    let fragment = format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><TestFragmentController/><hashTree>{}\
         </hashTree></hashTree></hashTree></jmeterTestPlan>",
        http("/?v=topsecret${__FileToString(beside,,)}", "")
    );
    let file = ground.other("fragment.jmx");
    fs::write(&file, fragment).unwrap();
    let whole = file.to_str().unwrap();
    ground.plan(&format!(
        "<IncludeController><stringProp name=\"IncludeController.includepath\">{whole}</stringProp>\
         </IncludeController><hashTree/>"
    ));
    let check = ground.place.weir(&["check", "plans/p.jmx"]).ends(2);
    assert!(
        check.stdout.contains("not in the folder of the plan"),
        "{check}"
    );
    let run = ["run", "-n", "-t", "plans/p.jmx"];
    ground
        .place
        .weir(&run)
        .ends(2)
        .says(&["--allow-files", whole]);
    assert_eq!(ground.ears.heard(), "");
    let words = ["run", "-n", "-t", "plans/p.jmx", "--allow-files", whole];
    ground.place.weir(&words).ends(0);
    assert!(ground.ears.heard().contains(SECRET));
}

/// A pipe that nobody writes and a device that never ends.
#[test]
fn plans_do_not_wait_for_pipes() {
    let ground = Ground::new();
    ground.plan("");
    let pipe = ground.place.path("plans/pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    symlink("/dev/zero", ground.place.path("plans/zero")).unwrap();
    for (who, steps, _) in readers() {
        // A name that is known is refused for /dev/zero; one that is not has to fail when it runs.
        for name in ["pipe", "zero"] {
            let path = ground.place.path("plans").join(name);
            let path = path.to_str().unwrap();
            let steps = match who {
                "a script in Groovy" => steps.replace("'FILE'", &format!("'' + '{path}'")),
                "a script in BeanShell" => steps.replace("\"FILE\"", &format!("\"\" + \"{path}\"")),
                _ => steps.replace("FILE", &format!("${{__javaScript('{path}')}}")),
            };
            ground.plan(&steps);
            // The end of the program is what is waited for.
            ground.place.weir(&["run", "-n", "-t", "plans/p.jmx"]);
        }
    }
}

#[test]
fn what_people_do_goes_on() {
    let ground = Ground::new();
    let csv = |name: &str| {
        format!(
            "<CSVDataSet testname=\"c\"><stringProp name=\"filename\">{name}</stringProp>\
             <stringProp name=\"variableNames\">v</stringProp></CSVDataSet><hashTree/>{}",
            http(SEND_V, "")
        )
    };
    let sent = |more: &[&str]| {
        let words = [&["run", "-n", "-t", "plans/p.jmx"], more].concat();
        ground.place.weir(&words).ends(0);
        ground.ears.heard()
    };
    // Beside the plan; in a folder below; and where Weir is run, which goes first, as with JMeter.
    ground.place.write("plans/users.csv", "beside");
    ground.place.write("plans/data/users.csv", "below");
    ground.plan(&csv("users.csv"));
    assert!(sent(&[]).contains("/?v=beside"));
    ground.plan(&csv("data/users.csv"));
    assert!(sent(&[]).contains("/?v=below"));
    ground.place.write("users.csv", "here");
    ground.plan(&csv("users.csv"));
    assert!(sent(&[]).contains("/?v=here"));
    // A file that the user names as a property is the user's own word, a folder is not.
    let file = ground.other("users.csv");
    fs::write(&file, "named").unwrap();
    ground.plan(&csv("${__P(users)}"));
    let named = format!("-Jusers={}", file.display());
    assert!(sent(&[&named]).contains("/?v=named"));
    ground.plan(&csv("${__P(folder)}/users.csv"));
    let folder = format!("-Jfolder={}", ground.other.path().display());
    ground
        .place
        .weir(&["run", "-n", "-t", "plans/p.jmx", &folder])
        .ends(2)
        .says(&["--allow-files"]);
    // A listener may throw its rows away.
    ground.plan(
        &("<ResultCollector testname=\"l\"><stringProp name=\"filename\">/dev/null</stringProp>\
            </ResultCollector><hashTree/>"
            .to_owned()
            + &http("/?v=null", "")),
    );
    assert!(sent(&[]).contains("/?v=null"));
}

/// A study's plan has the study's folder too, and what the study allows.
#[test]
fn studies_refuse_and_allow_files() {
    let ground = Ground::new();
    let file = ground.other("data");
    fs::write(&file, SECRET).unwrap();
    let text = crate::support::repository_file("studies/default.toml");
    let line = text.lines().find(|line| line.starts_with("plan")).unwrap();
    let plan = "plan = \"plans/p.jmx\"";
    let study = text.replace(line, plan);
    ground.plan(&http(
        &format!(
            "/?u=${{__P(THREAD_NUMBER,1)}}&amp;v=${{__FileToString({},,)}}",
            file.display()
        ),
        "",
    ));
    ground.place.write("study.toml", &study);
    for words in [
        &["check", "study.toml"][..],
        &["tune", "study.toml", "--dry-run"],
    ] {
        let done = ground.place.weir(words).ends(2);
        done.says(&["--allow-files", file.to_str().unwrap()]);
    }
    let check = ground.place.weir(&["check", "study.toml"]).ends(2);
    check.prints(&["__FileToString reads", ": refused"]);
    let allowed = file.to_str().unwrap();
    for words in [
        &["check", "study.toml", "--allow-files", allowed][..],
        &["tune", "study.toml", "--dry-run", "--allow-files", allowed],
    ] {
        ground.place.weir(words).ends(0);
    }
    let in_study = format!("{plan}\nallow-files = [\"{allowed}\"]");
    ground
        .place
        .write("study.toml", &study.replace(plan, &in_study));
    ground.place.weir(&["check", "study.toml"]).ends(0);
    assert_eq!(ground.ears.heard(), "");
}

/// Weir cannot confine a JMeter, says so, and refuses what shows before it is started.
#[test]
fn a_jmeter_is_not_started_for_files_that_are_refused() {
    let ground = Ground::new();
    let file = ground.other("data");
    for steps in [
        http(
            &format!("/?v=${{__FileToString({},,)}}", file.display()),
            "",
        ),
        format!(
            "<ResultSaver testname=\"s\"><stringProp name=\"FileSaver.filename\">{}</stringProp>\
             </ResultSaver><hashTree/>{}",
            file.display(),
            http("/", "")
        ),
    ] {
        ground.plan(&steps);
        let words = ["run", "-n", "-t", "plans/p.jmx", "--engine", "jmeter"];
        ground
            .place
            .weir(&words)
            .ends(2)
            .says(&["Weir cannot keep a JMeter to some files", "--allow-files"]);
        assert_eq!(ground.ears.heard(), "");
    }
    // Weir itself saves no responses.
    ground
        .place
        .weir(&["run", "-n", "-t", "plans/p.jmx"])
        .ends(0);
    assert!(!file.exists());
}

/// What is allowed is one file, not what lies beside it.
#[test]
fn a_fragment_that_is_allowed_opens_nothing_else() {
    let ground = Ground::new();
    let whole = ground.other("fragment.jmx");
    let beside = ground.other("beside");
    fs::write(&beside, SECRET).unwrap();
    let fragment = format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><TestFragmentController/><hashTree>{}\
         </hashTree></hashTree></hashTree></jmeterTestPlan>",
        http(
            &format!("/?v=${{__FileToString({},,)}}", beside.display()),
            ""
        )
    );
    fs::write(&whole, fragment).unwrap();
    let whole = whole.to_str().unwrap();
    ground.plan(&format!(
        "<IncludeController><stringProp name=\"IncludeController.includepath\">{whole}</stringProp>\
         </IncludeController><hashTree/>"
    ));
    let words = ["run", "-n", "-t", "plans/p.jmx", "--allow-files", whole];
    let run = ground.place.weir(&words).ends(2);
    run.says(&[&format!("--allow-files {}", beside.display())]);
    assert_eq!(ground.ears.heard(), "");
}

/// A link that came with the plan is not what the user meant by its name.
#[test]
fn a_property_opens_no_link_of_the_plan() {
    let ground = Ground::new();
    let file = ground.other("users.csv");
    fs::write(&file, SECRET).unwrap();
    symlink(&file, ground.place.path("users.csv")).unwrap();
    ground.plan(&http("/?v=${__FileToString(${__P(users)},,)}", ""));
    let words = ["run", "-n", "-t", "plans/p.jmx", "-Jusers=users.csv"];
    let run = ground.place.weir(&words).ends(2);
    run.says(&["--allow-files", file.to_str().unwrap()]);
    assert_eq!(ground.ears.heard(), "");
}

/// Entities of a document type that name a file.
#[test]
fn documents_fetch_nothing() {
    let ground = Ground::new();
    let file = ground.other("data");
    fs::write(&file, SECRET).unwrap();
    let kind = format!(
        "<!DOCTYPE r [<!ENTITY x SYSTEM \"file://{}\">]>",
        file.display()
    );
    let document = format!("{kind}<r>&x;</r>");
    ground.place.write("plans/d.xml", &document);
    ground.plan(&http("/?v=${__XPath(plans/d.xml,//r)}", ""));
    ground.place.weir(&["run", "-n", "-t", "plans/p.jmx"]);
    assert!(!ground.ears.heard().contains(SECRET));
    // The plan itself.
    ground.plan(&http("/?v=&x;", ""));
    let plan = format!("{kind}{}", ground.place.read("plans/p.jmx"));
    ground.place.write("plans/p.jmx", &plan);
    let run = ["run", "-n", "-t", "plans/p.jmx"];
    ground.place.weir(&run).ends(2);
    assert_eq!(ground.ears.heard(), "");
}

/// A program gets the same list.
#[test]
fn checks_list_files_as_json() {
    let ground = Ground::new();
    let file = ground.other("data");
    let whole = file.to_str().unwrap();
    ground.place.write("plans/users.csv", "u");
    ground.plan(&http(
        &format!(
            "/?a=${{__FileToString({whole},,)}}&amp;b=${{__FileToString(users.csv,,)}}\
             &amp;c=${{__FileToString(${{__threadNum}},,)}}"
        ),
        "",
    ));
    for out in ["-", "check.json"] {
        let check = ground
            .place
            .weir(&["check", "plans/p.jmx", "--json", out])
            .ends(2);
        let text = match out {
            "-" => check.stdout,
            _ => ground.place.read(out),
        };
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_valid("docs/schemas/check.schema.json", &found);
        assert_eq!(found["schema"], "weir/check/1");
        let of_plan = &found["files"][0];
        assert_eq!(of_plan["file"], "plans/p.jmx");
        assert!(of_plan["error"].as_str().unwrap().contains("--allow-files"));
        let named = of_plan["named_files"].as_array().unwrap();
        let of = |written: &str| {
            let mut named = named.iter();
            named.find(|name| name["written"] == written).unwrap()
        };
        assert_eq!(of(whole)["allowed"], false);
        assert_eq!(of(whole)["place"], whole);
        assert_eq!(of(whole)["element"], "__FileToString");
        assert_eq!(of(whole)["does"], "reads");
        assert_eq!(of("users.csv")["allowed"], true);
        assert!(of("${__threadNum(…)}").get("allowed").is_none());
    }
}
