//! Files that are no plans, and plans that nobody means well with: `weir check` and `weir run` end
//! soon, name the file and where it can be said the line, read nothing elsewhere, and send nothing.

#![expect(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests state what must hold"
)]

use std::fs::File;

use crate::support::Place;

/// A plan with this in its group.
fn plan(in_group: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan>\n<hashTree>\
         <TestPlan testname=\"P\"/><hashTree>\n\
         <ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\">\
         <stringProp name=\"LoopController.loops\">1</stringProp></elementProp></ThreadGroup>\
         <hashTree>\n{in_group}\n</hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

/// A test fragment with this in it.
fn fragment(steps: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><TestFragmentController/><hashTree>{steps}\
         </hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

fn include(file: &str) -> String {
    format!(
        "<IncludeController><stringProp name=\"IncludeController.includepath\">{file}</stringProp>\
         </IncludeController><hashTree/>"
    )
}

fn module(path: &[&str]) -> String {
    let parts = path
        .iter()
        .map(|part| format!("<stringProp name=\"x\">{part}</stringProp>"));
    format!(
        "<ModuleController><collectionProp name=\"ModuleController.node_path\">{}</collectionProp>\
         </ModuleController><hashTree/>",
        parts.collect::<String>()
    )
}

fn controller(name: &str, steps: &str) -> String {
    format!("<GenericController testname=\"{name}\"/><hashTree>{steps}</hashTree>")
}

/// What both commands say of a file in this place.
#[track_caller]
fn refused(place: &Place, name: &str, says: &str) {
    let check = place.weir(&["check", name]);
    let said = format!("{}{}", check.stdout, check.stderr);
    assert_eq!(check.code, Some(2), "check {name}: {said}");
    assert!(said.contains(name), "check {name}: {said}");
    assert!(said.contains(says), "check {name}: {said}");
    assert!(!said.contains("root:"), "check {name} has read elsewhere");
    let run = place.weir(&["run", "-n", "-t", name]);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(run.code, Some(2), "run {name}: {said}");
    assert!(said.contains(says), "run {name}: {said}");
}

#[test]
fn files_that_are_no_plans() {
    let place = Place::new();
    let whole = plan("");
    let laughs: String = (b'b'..=b'l')
        .map(|letter| {
            let before = format!("&{};", char::from(letter - 1)).repeat(10);
            format!("<!ENTITY {} \"{before}\">", char::from(letter))
        })
        .collect();
    let entities = |declared: &str| {
        format!(
            "<!DOCTYPE x [{declared}]>{}",
            whole.replace("\"G\"", "\"&l;\"")
        )
        .replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "")
    };
    let latin = whole.replace("\"G\"", "\"G\u{e9}\"");
    let latin: Vec<u8> = latin.chars().map(|c| c as u8).collect();
    let wide = whole.encode_utf16().flat_map(u16::to_le_bytes);
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    let cases: [(&str, Vec<u8>, &str); 16] = [
        ("empty.jmx", Vec::new(), ":1:1: there is no XML element"),
        ("blank.jmx", b"\n\n  ".to_vec(), ": there is no XML element"),
        (
            "cut.jmx",
            whole[..whole.len() / 2].into(),
            ": the file ends in the middle",
        ),
        (
            "end.jmx",
            whole[..whole.len() - 5].into(),
            ": the file ends in the middle",
        ),
        ("nuls.jmx", vec![0; 5_000], "nuls.jmx:1:1: "),
        ("nul.jmx", whole.replace("\"G\"", "\"\0\"").into(), ":4:"),
        ("latin.jmx", latin, "the byte 0xe9 is not UTF-8"),
        (
            "wide.jmx",
            [0xff, 0xfe].into_iter().chain(wide).collect(),
            "wide.jmx:1:1: the byte 0xff",
        ),
        (
            "page.jmx",
            b"<html><body/></html>".to_vec(),
            "the root element is <html>",
        ),
        ("twice.jmx", format!("{whole}\n{whole}").into(), ":7:1: "),
        (
            "laughs.jmx",
            entities(&format!("<!ENTITY a \"ha\">{laughs}")).into(),
            "(DTD) is not accepted",
        ),
        (
            "secret.jmx",
            entities("<!ENTITY l SYSTEM \"file:///etc/passwd\">").into(),
            "(DTD) is not accepted",
        ),
        (
            "deep.jmx",
            "<jmeterTestPlan>".repeat(200_000).into(),
            ": the file ends in the middle",
        ),
        (
            "nested.jmx",
            format!("{}{}", "<a>".repeat(2_000), "</a>".repeat(2_000)).into(),
            "nested deeper than 500",
        ),
        (
            "attributes.jmx",
            whole
                .replace("<jmeterTestPlan", &format!("<jmeterTestPlan{attributes}"))
                .into(),
            ":2:1: an element has more than 500 attributes",
        ),
        (
            "schedule.jmx",
            plan("")
                .replace("<ThreadGroup ", "<mapProp/><ThreadGroup bad ")
                .into(),
            ":4:",
        ),
    ];
    for (name, bytes, says) in cases {
        std::fs::write(place.path(name), bytes).unwrap();
        refused(&place, name, says);
    }
}

#[test]
fn what_is_no_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder.jmx")).unwrap();
    refused(&place, "folder.jmx", "it is no file");
    refused(&place, "missing.jmx", "No such file");
    let pipe = place.path("pipe.jmx");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    refused(&place, "pipe.jmx", "it is no file");
    std::os::unix::fs::symlink("/dev/zero", place.path("device.jmx")).unwrap();
    refused(&place, "device.jmx", "it is no file");
    std::os::unix::fs::symlink("loop.jmx", place.path("loop.jmx")).unwrap();
    refused(&place, "loop.jmx", "symbolic links");
    let large = File::create(place.path("large.jmx")).unwrap();
    large.set_len(100_000_001).unwrap();
    refused(&place, "large.jmx", "more than 100000000 bytes");
}

#[test]
fn files_and_modules_that_hold_each_other() {
    let place = Place::new();
    place.write("a.jmx", &fragment(&include("b.jmx")));
    place.write("b.jmx", &fragment(&include("a.jmx")));
    place.write("mutual.jmx", &plan(&include("a.jmx")));
    refused(&place, "mutual.jmx", "the file a.jmx includes itself");
    for number in 0..20 {
        let next = include(&format!("d{}.jmx", number + 1));
        place.write(&format!("d{number}.jmx"), &fragment(&next.repeat(2)));
    }
    place.write("d20.jmx", &fragment(""));
    place.write("double.jmx", &plan(&include("d0.jmx")));
    refused(&place, "double.jmx", "files are nested deeper than 16");
    place.write("elsewhere.jmx", &plan(&include("/etc/passwd")));
    refused(
        &place,
        "elsewhere.jmx",
        "line 5, column 1: IncludeController",
    );
    place.write(
        "upwards.jmx",
        &plan(&include("../../../../../../etc/passwd")),
    );
    refused(&place, "upwards.jmx", "line 5, column 1: IncludeController");
    place.write("device.jmx", &plan(&include("/dev/zero")));
    refused(&place, "device.jmx", "is not in the folder of the plan");

    let path = |name| module(&["Test Plan", "P", "G", name]);
    place.write("self.jmx", &plan(&controller("A", &path("A"))));
    refused(&place, "self.jmx", "line 5, column ");
    let both = controller("A", &path("B")) + &controller("B", &path("A"));
    place.write("modules.jmx", &plan(&both));
    refused(&place, "modules.jmx", "line 5, column ");
}
