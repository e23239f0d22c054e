//! What is told of a running Apache httpd's limits, compared with what httpd itself says of the
//! same files: `-t -D DUMP_CONFIG` (`mod_info`), and the changes that it makes at its start.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_server::{FoundValue, HttpdInstallation, Machine, ProcessFacts, recognise};

use crate::choices::Choices;
use crate::httpd::installation;

/// Compositions that are compared.
const COMPOSITIONS: u64 = 200;
/// Number of the main file; those before it can be included.
const LAST: usize = 4;

const CONDITIONS: [&str; 24] = [
    "IfModule mpm_prefork_module",
    "IfModule !mpm_prefork_module",
    "IfModule mpm_event_module",
    "IfModule prefork.c",
    "IfModule !event.c",
    "IfModule mpm_event.c",
    "IfModule mod_so.c",
    "IfModule so_module",
    "IfModule alias_module",
    "IfModule mod_alias.c",
    "IfModule !mod_alias.c",
    "IfDefine A",
    "IfDefine !A",
    "IfDefine B",
    "IfDefine TYPED",
    "IfDefine !TYPED",
    "IfVersion >= 2.4",
    "IfVersion < 2.4.10",
    "IfVersion !> 2.2",
    "IfVersion 2.4",
    "IfFile f1.conf",
    "IfFile !none.conf",
    "IfDirective MaxClients",
    "VirtualHost *:80",
];

/// Some lines; files with smaller numbers can be included.
fn lines(choices: &mut Choices, file: usize, depth: usize, modules: &Path, text: &mut String) {
    for _ in 0..=choices.below(3) {
        match choices.below(14) {
            0..=3 if depth < 3 => {
                let condition = choices.of(&CONDITIONS);
                let name = condition.split(' ').next().unwrap();
                writeln!(text, "<{condition}>").unwrap();
                if name == "VirtualHost" {
                    let line = choices.of(&[
                        "Timeout 7",
                        "Define A 60",
                        "UnDefine A",
                        "KeepAliveTimeout 3",
                    ]);
                    // An empty section is not closed where the server shows it.
                    writeln!(text, "KeepAlive On\n{line}").unwrap();
                } else {
                    lines(choices, file, depth + 1, modules, text);
                }
                writeln!(text, "</{name}>").unwrap();
            }
            4 | 5 if file > 0 => {
                let included = choices.below(file);
                let line = choices.of(&["Include", "IncludeOptional"]);
                writeln!(text, "{line} f{included}.conf").unwrap();
            }
            6 if file > 0 => writeln!(text, "IncludeOptional sub/[a-b]*.conf").unwrap(),
            7 => writeln!(
                text,
                "{}",
                choices.of(&["Define A", "Define A 90", "Define B 30"])
            )
            .unwrap(),
            8 => writeln!(text, "UnDefine {}", choices.of(&["A", "B"])).unwrap(),
            9 => writeln!(
                text,
                "MaxRequestWorkers {}",
                choices.of(&["${A}", "${ENV}"])
            )
            .unwrap(),
            10 if depth == 0 => {
                let other = choices.of(&["ROOT", "ROOT/sub"]);
                writeln!(text, "ServerRoot {other}").unwrap();
            }
            11 if depth == 0 => {
                let name = format!("m{file}x{}", choices.below(1_000_000));
                let line = choices.of(&["MaxClients $n", "Timeout $n", "Define B $n"]);
                writeln!(text, "<Macro {name} $n>\n{line}\n</Macro>\nUse {name} 44").unwrap();
            }
            12 if depth > 0 => {
                writeln!(
                    text,
                    "LoadModule alias_module {}",
                    modules.join("mod_alias.so").display()
                )
                .unwrap();
            }
            _ => {
                let name = choices.of(&[
                    "MaxRequestWorkers",
                    "MaxClients",
                    "ServerLimit",
                    "ThreadsPerChild",
                    "ThreadLimit",
                    "Timeout",
                ]);
                let value = choices.of(&["20", "64", "77", "100", "150", "300", "500"]);
                writeln!(text, "{name} {value}").unwrap();
            }
        }
    }
}

/// What the server itself says: the workers that it would run with, its `Timeout`. A variable is
/// shown as it is written, and what it makes of it only where it warns.
fn of_httpd(text: &str, errors: &str, default: u64) -> (Option<u64>, Option<u64>) {
    let (mut workers, mut timeout, mut depth) = (Some(default), Some(60), 0);
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match &words[..] {
            [name, ..] if name.starts_with("</") => depth -= 1,
            [name, ..] if name.starts_with('<') => depth += 1,
            [name, value] if depth == 0 => {
                let value = value.parse().ok();
                match name.to_ascii_lowercase().as_str() {
                    "maxrequestworkers" | "maxclients" => workers = value,
                    "timeout" => timeout = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // "MaxRequestWorkers of 500 …, decreasing MaxRequestWorkers to 256.", or "to nearest multiple
    // 80".
    let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    for warning in errors
        .split("WARNING: ")
        .filter(|warning| warning.starts_with("MaxRequestWorkers"))
    {
        let (_, to) = warning.split_once("creasing ").unwrap();
        let mut words = to.split(|c: char| !c.is_ascii_alphanumeric());
        workers = words.find_map(|word| word.parse().ok());
    }
    (workers, timeout)
}

#[test]
fn limits_are_those_that_httpd_itself_reads_or_not_known() {
    let Some(installation) = installation() else {
        return;
    };
    let (mut same, mut unknown, mut invalid) = (0, 0, 0);
    let mut seed = 0;
    while same + unknown < COMPOSITIONS {
        seed += 1;
        assert!(
            seed < 10 * COMPOSITIONS,
            "{invalid} compositions are none for httpd"
        );
        match compare(&installation, seed) {
            Compared::Same => same += 1,
            Compared::NotKnown => unknown += 1,
            Compared::Invalid => invalid += 1,
        }
    }
    eprintln!("{same} the same, {unknown} not known, {invalid} that httpd does not take");
    assert!(
        same > COMPOSITIONS / 2,
        "{same} of {COMPOSITIONS} are known"
    );
}

enum Compared {
    Same,
    NotKnown,
    Invalid,
}

fn compare(installation: &HttpdInstallation, seed: u64) -> Compared {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let mut choices = Choices::of_seed(seed);
    let (mpm, default) = if choices.below(2) == 0 {
        ("prefork", 256)
    } else {
        ("event", 400)
    };
    compose(&mut choices, installation, mpm, &root);

    let words = [
        "-d",
        root.to_str().unwrap(),
        "-f",
        "main.conf",
        "-D",
        "TYPED",
        "-c",
        "Timeout 11",
    ];
    let libraries = std::env::join_paths(&installation.libraries).unwrap();
    let mut command = Command::new(&installation.program);
    command
        .args(words)
        .args(["-t", "-D", "DUMP_CONFIG"])
        .env("ENV", "80")
        .env("LD_LIBRARY_PATH", &libraries);
    let output = command.output().unwrap();
    if !output.status.success() {
        return Compared::Invalid;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let (workers, timeout) = of_httpd(&String::from_utf8_lossy(&output.stdout), &errors, default);

    let mut environment = std::env::vars().collect::<BTreeMap<_, _>>();
    environment.insert("ENV".to_owned(), "80".to_owned());
    environment.insert(
        "LD_LIBRARY_PATH".to_owned(),
        libraries.into_string().unwrap(),
    );
    let program = installation.program.display().to_string();
    let facts = ProcessFacts {
        pid: std::process::id(),
        program: PathBuf::from(&program),
        words: std::iter::once(program.as_str())
            .chain(words)
            .map(str::to_owned)
            .collect(),
        directory: root.clone(),
        environment,
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        started: None,
    };
    let found = recognise(&facts, 80, &Machine::here());
    let mut compared = Compared::Same;
    for (stage, wanted) in [("threads", workers), ("native.Timeout", timeout)] {
        let limit = found
            .limits
            .iter()
            .find(|limit| limit.stage == stage)
            .unwrap();
        match (&limit.value, wanted) {
            (_, None) => {}
            (FoundValue::Number(number), Some(wanted)) => assert_eq!(
                *number,
                wanted,
                "{stage} of composition {seed}: {limit:?} {:?}\n{errors}\n{}",
                found.notes,
                texts(&root)
            ),
            _ => compared = Compared::NotKnown,
        }
    }
    compared
}

/// Writes the files of a composition: `main.conf`, and what it may include.
fn compose(choices: &mut Choices, installation: &HttpdInstallation, mpm: &str, root: &Path) {
    let module = |name: &str| installation.modules.join(format!("mod_{name}.so"));
    fs::create_dir(root.join("sub")).unwrap();
    for name in [
        "sub/a.conf",
        "sub/f0.conf",
        "sub/f1.conf",
        "sub/.b.conf",
        "sub/c.conf",
    ] {
        fs::write(
            root.join(name),
            format!("MaxRequestWorkers {}\n", 30 + name.len()),
        )
        .unwrap();
    }
    let mut text = String::new();
    for name in [&format!("mpm_{mpm}"), "info", "macro"] {
        if module(name).is_file() {
            writeln!(text, "LoadModule {name}_module {}", module(name).display()).unwrap();
        }
    }
    text.push_str("ServerName x\nPidFile ROOT/pid\nListen 127.0.0.1:1\nErrorLog ROOT/log\n");
    for file in (0..=LAST).rev() {
        lines(choices, file, 0, &installation.modules, &mut text);
        if file == LAST {
            lines(choices, file, 0, &installation.modules, &mut text);
        }
        let own = text.replace("ROOT", root.to_str().unwrap());
        fs::write(root.join(name_of(file)), own).unwrap();
        text.clear();
    }
}

fn name_of(file: usize) -> String {
    if file == LAST {
        "main.conf".to_owned()
    } else {
        format!("f{file}.conf")
    }
}

fn texts(root: &Path) -> String {
    let files = (0..=LAST).map(name_of);
    let texts = files.flat_map(|name| {
        let text = fs::read_to_string(root.join(&name)).unwrap();
        [name, ":\n".to_owned(), text]
    });
    texts.collect()
}
