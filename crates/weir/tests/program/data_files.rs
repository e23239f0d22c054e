//! Files that a plan reads and that are not there, or not what they should be: said before the run
//! with the line and the places that were looked at, and the run does not pass for whole.

use std::fs;

use crate::support::{Done, Place, SampleServer, assert_valid};

/// A group of one user that sends two requests with a value of a data file.
fn group(name: &str, port: &str, file: &str, csv: &str) -> String {
    format!(
        "<ThreadGroup testname=\"{name}\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">2</stringProp></elementProp></ThreadGroup><hashTree>\n\
         <CSVDataSet testname=\"c\"><stringProp name=\"filename\">{file}</stringProp>\n\
         {csv}</CSVDataSet><hashTree/>\n\
         <HTTPSamplerProxy testname=\"{name}\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp>\
         <stringProp name=\"HTTPSampler.path\">/?v=${{v}}</stringProp></HTTPSamplerProxy><hashTree/>\n\
         </hashTree>"
    )
}

fn plan(groups: &[String]) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\n{}\n</hashTree></hashTree></jmeterTestPlan>",
        groups.join("\n")
    )
}

const NAMED: &str = "<stringProp name=\"variableNames\">v</stringProp>";

struct Ground {
    place: Place,
    server: SampleServer,
}

impl Ground {
    fn new() -> Self {
        let ground = Self {
            place: Place::new(),
            server: SampleServer::start(),
        };
        ground.place.write("plans/there.csv", "ann\nbob\n");
        ground.place.write("plans/empty.csv", "");
        fs::create_dir(ground.place.path("plans/folder.csv")).unwrap();
        ground
    }

    fn check(&self, groups: &[String]) -> Done {
        self.place.write("plans/p.jmx", &plan(groups));
        self.place.weir(&["check", "plans/p.jmx"])
    }

    fn run(&self) -> Done {
        let words = ["run", "plans/p.jmx", "--json", "-", "-j", "log.txt"];
        self.place.weir(&words)
    }
}

#[test]
fn what_cannot_be_read_is_said_before_and_after() {
    let ground = Ground::new();
    let port = ground.server.port();
    let not_there = ground.place.path("plans/missing.csv");
    for (file, csv, says, problem) in [
        ("missing.csv", NAMED, "is not there", "No such file"),
        ("folder.csv", NAMED, "cannot be read", "is a directory"),
        // Without names the first line has to hold them.
        ("empty.csv", "", "is empty", "no first line"),
    ] {
        let groups = [
            group("buyers", port, file, csv),
            group("readers", port, "there.csv", NAMED),
        ];
        let done = ground.check(&groups).ends(0);
        let line = "plans/p.jmx: warning: line 3, column ";
        let warning = done.stdout.lines().find(|of| of.starts_with(line)).unwrap();
        assert!(
            warning.contains(&format!("reads {file}, which {says}")),
            "{warning}"
        );
        assert!(!done.stdout.contains("in full"), "{done}");
        if file == "missing.csv" {
            assert!(warning.contains(not_there.to_str().unwrap()), "{warning}");
            assert!(warning.contains("(looked for "), "{warning}");
        }
        let done = ground
            .run()
            .ends(4)
            .says(&[says, problem, "1 user(s) ended without it"]);
        let result = done.json();
        assert_valid("docs/schemas/run.schema.json", &result);
        let reason = &result["trial"]["invalid"][0];
        assert_eq!(reason["id"], "files-unread", "{result}");
        let log = ground.place.read("log.txt");
        let jmeter = format!(
            "ERROR o.a.j.plan: Test failed! java.lang.IllegalArgumentException: File {file} must"
        );
        assert!(log.contains(&jmeter), "{log}");
    }
    // Both groups run when both files are there, from the folder of the plan.
    let groups = [
        group("buyers", port, "there.csv", NAMED),
        group("readers", port, "there.csv", NAMED),
    ];
    ground
        .check(&groups)
        .ends(0)
        .prints(&["runs natively in full"]);
    ground.run().ends(0);
}

#[test]
fn an_upload_a_script_or_a_function_s_file_that_is_missing_is_said_too() {
    let ground = Ground::new();
    let upload = "<HTTPSamplerProxy testname=\"up\"><stringProp name=\"HTTPSampler.method\">POST</stringProp>\
        <elementProp name=\"HTTPsampler.Files\"><collectionProp name=\"HTTPFileArgs.files\">\
        <elementProp name=\"f\" elementType=\"HTTPFileArg\">\
        <stringProp name=\"File.path\">photo.png</stringProp></elementProp>\
        </collectionProp></elementProp></HTTPSamplerProxy><hashTree/>";
    let script = "<JSR223PreProcessor testname=\"s\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
        <stringProp name=\"filename\">steps.groovy</stringProp></JSR223PreProcessor><hashTree/>";
    let function = "<HTTPSamplerProxy testname=\"f\">\
        <stringProp name=\"HTTPSampler.path\">/${__FileToString(page.txt,,)}</stringProp>\
        </HTTPSamplerProxy><hashTree/>";
    let steps = [upload, script, function].join("\n");
    let group = format!(
        "<ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup>\
         <hashTree>{steps}</hashTree>"
    );
    let done = ground.check(&[group]);
    for file in ["photo.png", "steps.groovy", "page.txt"] {
        let is_named = |line: &&str| line.contains("warning: ") && line.contains(file);
        let warning = done.stdout.lines().find(is_named);
        let warning = warning.unwrap_or_else(|| panic!("{file}: {done}"));
        assert!(warning.contains("is not there"), "{warning}");
    }
}
