//! Controllers that stand for others: modules and included files.

use std::path::PathBuf;

use weir_jmx::{Reading, read};
use weir_plan::{ControllerKind, Node};

use super::scope::{element, text};
use super::{group, plan, read_ok, said, sampler};

fn named(name: &str) -> String {
    sampler("", "").replace("\"S\"", &format!("\"{name}\""))
}

fn module(path: &[&str]) -> String {
    let names: String = path.iter().map(|name| text("1", name)).collect();
    let path =
        format!("<collectionProp name=\"ModuleController.node_path\">{names}</collectionProp>");
    element("ModuleController", "M", &path, &named("below the module"))
}

fn include(path: &str) -> String {
    let path = text("IncludeController.includepath", path);
    element("IncludeController", "I", &path, &named("below the include"))
}

fn fragment(name: &str, below: &str) -> String {
    element("TestFragmentController", name, "", below)
}

/// The names of controllers, with their children in brackets, and of samplers.
fn shape(nodes: &[Node]) -> String {
    let shown = nodes.iter().map(|node| match node {
        Node::Sampler(sampler) => sampler.label.text.clone(),
        Node::Controller(controller) => {
            assert_eq!(controller.kind, ControllerKind::Simple);
            format!("{}[{}]", controller.name.text, shape(&controller.children))
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn shape_of(reading: &Reading) -> String {
    shape(&reading.plan.groups[0].nodes)
}

fn with_fragments(below_group: &str, fragments: &str) -> String {
    group(below_group).replace("<ThreadGroup ", &format!("{fragments}<ThreadGroup "))
}

/// What JMeter 5.6.3 ran: the last of the controllers with that path, also a disabled one,
/// without what is disabled in it, and nothing from below the module.
#[test]
fn modules_run_their_target() {
    let disabled = element("GenericController", "off", "", &named("never"))
        .replace("\"off\"", "\"off\" enabled=\"false\"");
    let inner = element("GenericController", "Inner", "", &(named("a") + &disabled));
    let fragments = fragment(
        "F",
        &element("GenericController", "Inner", "", &named("first")),
    ) + &fragment("F", &inner).replace("\"F\"", "\"F\" enabled=\"false\"")
        + &fragment(
            "Whole",
            &(named("b") + &module(&["Test Plan", "P", "F", "Inner"])),
        );
    let xml = with_fragments(
        &(module(&["Test Plan", "P", "F", "Inner"]) + &module(&["Test Plan", "P", "Whole"])),
        &fragments,
    );
    let reading = read_ok(&xml);
    assert_eq!(shape_of(&reading), "M[Inner[a]] M[Whole[b M[Inner[a]]]]");
}

#[test]
fn modules_without_an_end() {
    let itself = element(
        "GenericController",
        "C",
        "",
        &module(&["Test Plan", "P", "G", "C"]),
    );
    let said_of = |xml: &str| {
        let mut said = said(xml);
        said.retain(|line| line.starts_with("ModuleController") && !line.contains("yet"));
        said.concat()
    };
    let said_itself = said_of(&group(&itself));
    assert!(
        said_itself.contains("a controller that it is itself in (\"Test Plan\" > "),
        "{said_itself}"
    );
    for path in [&["Test Plan", "P", "nowhere"][..], &["Test Plan"], &[]] {
        let said = said_of(&group(&module(path)));
        assert!(said.contains("is not in the plan"), "{said}");
    }
    let said = said_of(&group(
        &(named("x") + &module(&["Test Plan", "P", "G", "x"])),
    ));
    assert!(said.contains("an element that is no controller"), "{said}");
}

/// Each fragment runs the next one twice: 2³⁰ samplers from 30 fragments.
#[test]
fn modules_that_multiply() {
    let fragments: String = (0..30)
        .map(|n| {
            let next = format!("F{}", n + 1);
            let module = module(&["Test Plan", "P", &next]);
            fragment(&format!("F{n}"), &(module.clone() + &module))
        })
        .collect();
    let fragments = fragments + &fragment("F30", &named("x"));
    let xml = with_fragments(&module(&["Test Plan", "P", "F0"]), &fragments);
    let error = weir_jmx::read_text(&xml, std::path::Path::new("x.jmx")).unwrap_err();
    assert!(error.to_string().contains("split the plan"), "{error}");
}

/// A folder for plans, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weir-jmx-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("plans/below")).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Reading {
        read(&self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is said of Include Controllers, apart from their not being supported yet.
fn said_of_includes(reading: &Reading) -> String {
    let findings = reading
        .findings
        .iter()
        .filter(|f| f.element == "IncludeController" && !f.says.contains("yet"));
    findings.map(ToString::to_string).collect()
}

/// What JMeter 5.6.3 ran: the first fragment, also a disabled one, in the scope of the controller.
#[test]
fn files_are_included() {
    let folder = Folder::new("include");
    let first = fragment(
        "F",
        &(named("a") + "<com.example.Odd/>" + &include("below/two.jmx")),
    );
    let first = first.replace("\"F\"", "\"F\" enabled=\"false\"");
    folder.write(
        "plans/below/one.jmx",
        &plan(&(first + &fragment("F", &named("never")))),
    );
    folder.write("plans/below/two.jmx", &plan(&fragment("F", &named("b"))));
    folder.write("plans/main.jmx", &group(&include(" below/one.jmx ")));
    let reading = folder.read("plans/main.jmx");
    assert_eq!(shape_of(&reading), "I[a I[b]]");
    let odd = reading
        .findings
        .iter()
        .find(|f| f.element == "com.example.Odd")
        .unwrap();
    assert!(
        odd.to_string().contains("below/one.jmx, line 3, column "),
        "{odd}"
    );
}

#[test]
fn files_that_are_not_included() {
    let folder = Folder::new("refused");
    folder.write("outside.jmx", &plan(&fragment("F", &named("secret"))));
    std::os::unix::fs::symlink("../outside.jmx", folder.0.join("plans/link.jmx")).unwrap();
    folder.write(
        "plans/loop.jmx",
        &plan(&fragment("F", &include("loop.jmx"))),
    );
    folder.write("plans/cut.jmx", "<jmeterTestPlan><hashTree>");
    folder.write("plans/none.jmx", &group(""));
    let outside = folder.0.join("outside.jmx").display().to_string();
    for (path, says) in [
        ("../outside.jmx", "is not in the folder of the plan"),
        (&outside, "is not in the folder of the plan"),
        ("link.jmx", "is not in the folder of the plan"),
        ("/dev/zero", "is not in the folder of the plan"),
        ("below", "below is no file"),
        (" ", "it names no file"),
        ("nowhere.jmx", "cannot be read"),
        ("loop.jmx", "the file loop.jmx includes itself"),
        ("cut.jmx", "the file ends in the middle"),
        ("none.jmx", "has no test fragment"),
    ] {
        folder.write("plans/main.jmx", &group(&include(path)));
        let said = said_of_includes(&folder.read("plans/main.jmx"));
        assert!(said.contains(says), "{path}: {said}");
    }
}

/// JMeter 5.6.3 reads nothing and goes on.
#[test]
fn no_file_is_no_steps() {
    let folder = Folder::new("unnamed");
    folder.write("plans/main.jmx", &group(&(named("a") + &include(""))));
    let reading = folder.read("plans/main.jmx");
    assert_eq!(shape_of(&reading), "a I[]");
    let said = said_of_includes(&reading);
    assert!(
        said.contains("it names no file: as in JMeter, nothing runs here"),
        "{said}"
    );
    assert_eq!(reading.unsupported().count(), 0);
}

#[test]
fn files_that_multiply() {
    let folder = Folder::new("multiply");
    let padding = format!("<!--{}-->", " ".repeat(1_000_000));
    for n in 0..15 {
        let next = include(&format!("{}.jmx", n + 1)).repeat(2);
        folder.write(
            &format!("plans/{n}.jmx"),
            &(padding.clone() + &plan(&fragment("F", &next))),
        );
    }
    folder.write("plans/15.jmx", &plan(&fragment("F", &named("x"))));
    folder.write("plans/main.jmx", &group(&include("0.jmx")));
    let error = read(&folder.0.join("plans/main.jmx")).unwrap_err();
    assert!(error.to_string().contains("split the plan"), "{error}");
}

/// JMeter 5.6.3 with the plugin 0.12 does not run the inner one.
#[test]
fn steps_at_once_in_each_other() {
    let class = "com.blazemeter.jmeter.controller.ParallelSampler";
    let inner = element(class, "inner", "", &named("a"));
    let reading = read_text_of(&element(class, "outer", "", &named("a")));
    assert_eq!(reading.unsupported().count(), 0);
    let reading = read_text_of(&element(class, "outer", "", &inner));
    let said: String = reading.unsupported().map(ToString::to_string).collect();
    assert!(
        said.contains("Parallel Controllers in each other"),
        "{said}"
    );
}

fn read_text_of(below_group: &str) -> Reading {
    weir_jmx::read_text(&group(below_group), std::path::Path::new("x.jmx")).unwrap()
}
