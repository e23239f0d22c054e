//! The study as commented text.

use weir_accesslog::Rates;
use weir_server::{AgentWay, Found, FoundLimit, FoundValue, SetWay};
use weir_shown::is_hidden;

use crate::USERS;

/// Words of a comment that stand on one line at most, in characters.
const LINE: usize = 110;

/// What a study is written from.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    /// How `weir init` was typed.
    pub typed: &'a str,
    /// The study's file, as the next commands are given it.
    pub file: &'a str,
    /// `http://HOST:PORT`.
    pub server: &'a str,
    /// The path and query that was typed.
    pub path: &'a str,
    /// The machine of the server and ssh's configuration, when it is looked at over ssh.
    pub ssh: Option<(&'a str, Option<&'a str>)>,
    /// What was found of the server; nothing, when its process cannot be looked at.
    pub found: Option<&'a Found>,
    /// The CPUs that the server may use; nothing, when they are not known.
    pub cpus: Option<Cpus<'a>>,
    /// The file of the plan with an access log's mix.
    pub plan: Option<&'a str>,
    /// How fast requests arrived in the log.
    pub rates: Option<Rates>,
}

/// CPUs of a machine, as `0-3,8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpus<'a> {
    /// Those that the server may use.
    pub of_server: &'a str,
    /// Those that the machine has.
    pub of_machine: &'a str,
}

/// The text of the study.
pub fn study(draft: &Draft<'_>) -> String {
    let mut text = Text::default();
    head(draft, &mut text);
    target(draft, &mut text);
    load(draft, &mut text);
    find(&mut text);
    text.written
}

#[derive(Default)]
struct Text {
    written: String,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.written.push_str(line);
        self.written.push('\n');
    }

    /// A comment, broken into lines.
    fn say(&mut self, words: &str) {
        let mut line = String::from("#");
        let words = weir_shown::text(words);
        for word in words.split_whitespace() {
            let word: String = word.chars().filter(|c| !c.is_control()).collect();
            if line.chars().count() + 1 + word.chars().count() > LINE && line.len() > 1 {
                self.line(&line);
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(&word);
        }
        self.line(&line);
    }

    /// Text that must not be broken, as a comment.
    fn out(&mut self, line: &str) {
        let line = weir_shown::line(line).replace('\t', " ");
        self.line(&format!("# {line}"));
    }

    fn gap(&mut self) {
        self.written.push('\n');
    }
}

fn head(draft: &Draft<'_>, text: &mut Text) {
    let what = draft.found.map_or_else(
        || "a server of which the process could not be looked at".to_owned(),
        |found| format!("{}, process {}", found.title(), found.pid),
    );
    text.out(&format!("Written by `{}` for", draft.typed));
    text.say(&format!(
        "{what}. Nothing was changed or restarted for it. What to do next:"
    ));
    for (command, does) in [
        ("weir check", "says whether this file can be run"),
        ("weir tune --dry-run", "says how long it would take"),
        (
            "weir tune",
            "loads the server, and changes the limits under `set`",
        ),
    ] {
        let (first, rest) = command.split_once(" --").unwrap_or((command, ""));
        let option = if rest.is_empty() {
            String::new()
        } else {
            format!(" --{rest}")
        };
        text.out(&format!("  {first} {}{option}   {does}", draft.file));
    }
    text.line("schema = \"weir/study/1\"");
    text.gap();
    text.say("The question in your words; it heads the report. What is asked exactly stands under [find].");
    text.line("question = \"How many concurrent users until CPU reaches 80 %?\"");
}

fn target(draft: &Draft<'_>, text: &mut Text) {
    text.gap();
    text.say(
        "The server. It keeps running. Before a limit is changed, what it was is written down, and put back at the \
         end, at Ctrl-C, and by `weir target restore` if Weir itself was killed.",
    );
    text.line("[target.external]");
    text.line(&format!("url = {}", quoted(draft.server)));
    if let Some((host, configuration)) = draft.ssh {
        text.say("Its machine is read over your ssh once a second; commands under `set` and `get` run there.");
        text.line(&format!("ssh = {}", quoted(host)));
        if let Some(configuration) = configuration {
            text.line(&format!("ssh-config = {}", quoted(configuration)));
        }
    }
    let Some(found) = draft.found else {
        text.say(
            "Without the process only the load's own figures and the sockets are known. Run `weir init` as the server's \
             user or as root, or name the process: pid = NUMBER",
        );
        return;
    };
    text.say(&format!(
        "Its process is the one that listens on the port, {} now.",
        found.pid
    ));
    cpus(draft, text);
    for note in &found.notes {
        text.say(&format!("Note: {note}."));
    }
    metrics(found, text);
    let set = agent(found, text);
    limits(found, &set, text);
}

/// The CPUs that count for the server's CPU share.
fn cpus(draft: &Draft<'_>, text: &mut Text) {
    let over_ssh = draft.ssh.is_some();
    match draft.cpus {
        Some(cpus) if cpus.of_server != cpus.of_machine => {
            text.say(&format!(
                "It is bound to some of its machine's CPUs (taskset, a container): {} of {}. Its CPU share is that of \
                 these{}.",
                cpus.of_server,
                cpus.of_machine,
                if over_ssh { "" } else { "; the load generator keeps to the others" }
            ));
            text.line(&format!("cpus = {}", quoted(cpus.of_server)));
        }
        Some(cpus) => {
            text.say(if over_ssh {
                "It may use all of its machine's CPUs; some of them:"
            } else {
                "It may use all of this machine's CPUs, and shares them with the load generator. Bind it to some of them \
                 (taskset, a container) and name those, and the load generator keeps to the others:"
            });
            text.out(&format!("cpus = {}", quoted(cpus.of_server)));
        }
        None => {
            text.say(
                "Which CPUs it may use could not be seen. Where it is bound to some of its machine's, name those:",
            );
            text.out("cpus = \"0-1\"");
        }
    }
}

fn metrics(found: &Found, text: &mut Text) {
    if let Some(page) = &found.metrics {
        text.say("Its page of metrics; on the server's own port each reading is one more request.");
        text.line(&format!("metrics = {}", quoted(page)));
    } else {
        text.say("A page in Prometheus's text format, if it has one:");
        text.out("metrics = \"/metrics\"");
    }
}

/// Whether limits can be set through an agent, with what is written about it.
fn agent(found: &Found, text: &mut Text) -> Result<(), String> {
    match &found.agent {
        AgentWay::NoJvm => Err("there is no Java virtual machine".to_owned()),
        AgentWay::Loads => {
            text.say(
                "When a study starts, Jolokia's agent is loaded into the virtual machine (it listens on 127.0.0.1 only, \
                 asks for a password of its own and permits only what Weir reads and sets), and stopped at the end: through it the figures of threads and pools are read, and limits are set. \
                 Nothing is restarted.",
            );
            text.line("jolokia = \"attach\"");
            Ok(())
        }
        AgentWay::Useless(why) => {
            text.say(&format!(
                "Jolokia's agent is not loaded: {why}. Thread dumps tell how many threads are taken and what they wait for: while a study runs, the virtual machine is asked for one at most every second, and stands still for at most a thousandth of the time.",
            ));
            text.line("thread-dumps = true");
            Err(why.clone())
        }
        AgentWay::Not(why) => {
            text.say(&format!(
                "Jolokia's agent, through which threads and pools could be watched and set, cannot be loaded: {why}. \
                 Where the server has one already, name it:"
            ));
            text.out("jolokia = \"http://127.0.0.1:8778/jolokia\"");
            Err(why.clone())
        }
    }
}

/// The limits as a table, and how they are set.
fn limits(found: &Found, agent: &Result<(), String>, text: &mut Text) {
    text.gap();
    if found.limits.is_empty() {
        text.say(
            "How limits are set: a command for each, in which {value} is the number, or \"ask\", and Weir asks you. With \
             none, the answer is a number of users, and no setting is tried.",
        );
        text.out("set = { threads = \"COMMAND {value}\" }");
        text.out("get = { threads = \"COMMAND that prints it\" }");
        return;
    }
    text.say("Limits as they are configured (a study reads those of the running server before it changes any):");
    for limit in &found.limits {
        text.out(&format!(
            "  {:<28} {:<10} {} ({})",
            limit.stage, limit.value, limit.native, limit.origin
        ));
    }
    text.gap();
    text.say("What a study may change. Take out what must not be touched.");
    text.line("[target.external.set]");
    let mut known: Vec<&FoundLimit> = Vec::new();
    for limit in &found.limits {
        if set(limit, agent, text) {
            known.push(limit);
        }
    }
    commands(&known, text);
}

/// Writes how a limit is set; says whether what it is now has to be written too.
fn set(limit: &FoundLimit, agent: &Result<(), String>, text: &mut Text) -> bool {
    let key = key(&limit.stage);
    match (&limit.set, agent) {
        (SetWay::Jmx, Ok(())) if is_first(&limit.stage) => {
            text.line(&format!("{key} = \"jmx\""));
            false
        }
        (SetWay::Jmx, Ok(())) => {
            text.out(&format!("{key} = \"jmx\""));
            false
        }
        (SetWay::Jmx, Err(why)) => {
            text.say(&format!(
                "{}: needs the agent, but {why}; or Weir asks you:",
                limit.stage
            ));
            text.out(&format!("{key} = \"ask\""));
            true
        }
        (SetWay::Command { set, does, .. }, _) => {
            text.say(&format!("{}: this command {does}.", limit.stage));
            text.out(&format!("{key} = {}", quoted(set)));
            true
        }
        (SetWay::Not(why), _) => {
            text.say(&format!("{}: {why}.", limit.stage));
            false
        }
    }
}

/// What a limit is now, for those that no agent tells.
fn commands(known: &[&FoundLimit], text: &mut Text) {
    let numbers: Vec<String> = known
        .iter()
        .filter_map(|limit| match (&limit.value, &limit.set) {
            (_, SetWay::Command { get: Some(_), .. }) => None,
            (FoundValue::Number(number), _) => Some(format!("{} = {number}", key(&limit.stage))),
            _ => None,
        })
        .collect();
    let printed: Vec<String> = known
        .iter()
        .filter_map(|limit| match &limit.set {
            SetWay::Command { get: Some(get), .. } => {
                Some(format!("{} = {}", key(&limit.stage), quoted(get)))
            }
            _ => None,
        })
        .collect();
    for (lines, name, what) in [
        (
            numbers,
            "found",
            "What they are now, to be put back; needed for those of them that you take in:",
        ),
        (
            printed,
            "get",
            "Commands that print what they are; needed for those of them that you take in:",
        ),
    ] {
        if !lines.is_empty() {
            text.say(what);
            text.out(&format!("[target.external.{name}]"));
            for line in &lines {
                text.out(line);
            }
        }
    }
}

/// Limits that a study may change without being asked twice: the ones that settings are derived
/// for.
fn is_first(stage: &str) -> bool {
    stage == "threads" || stage.starts_with("pool.")
}

fn load(draft: &Draft<'_>, text: &mut Text) {
    text.gap();
    if let Some(plan) = draft.plan {
        text.say("What is sent: the mix of the access log, as users that ask again and again without thinking.");
        text.line("[load]");
        text.line(&format!("plan = {}", quoted(plan)));
        text.line(&format!("users = {}", quoted(USERS)));
    } else {
        text.say(
                "What is sent: users that ask for one path again and again without thinking. The real mix comes from an \
                 access log (`weir init URL --access-log FILE`) or a JMeter plan: plan = \"FILE.jmx\", users = \"PROPERTY\"",
            );
        text.line("[load]");
        text.line(&format!("url = {}", quoted(draft.path)));
    }
    text.say(
        "A trial measures until its figures are known well enough; a fixed time is \"120 s\".",
    );
    text.line("window = \"auto\"");
    if let Some(rates) = draft.rates {
        text.say(&format!(
            "In the log, requests arrived at {:.3}/s in the mean over {} s, {:.3}/s in the busiest minute, {} in the busiest \
             second. The throughput of the report tells how far the answer lies above that; `weir run` with --rate \
             sends at a given rate.",
            rates.mean_per_s, rates.length_s, rates.peak_minute_per_s, rates.peak_second
        ));
    }
}

fn find(text: &mut Text) {
    text.gap();
    text.say(
        "What is looked for: the largest number of users at which all of `subject-to` holds. Others are \"p99 <= 300 ms\", \
         \"mean <= 50 ms\", \"throughput >= 500 /s\", \"waiting(pool.db) == 0\".",
    );
    text.line("[find]");
    text.line("vary = \"users\"");
    text.line("within = [1, 1000]");
    text.line("goal = \"largest\"");
    text.line("subject-to = [\"cpu <= 80 %\", \"errors <= 0.1 %\"]");
    text.line("precision = \"5 %\"");
    text.say(
        "A limit under `set` that ends the search before that is raised, up to ten times what it is, and put back at the \
         end. How far it may be raised, or `raise = false`:",
    );
    text.out("raise = { threads = 400 }");
}

/// A text as TOML writes it: in single quotes, where nothing is escaped, if that reads better.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains(['"', '\\']) && !text.contains(is_hidden);
    if is_plain {
        return format!("\"{text}\"");
    }
    if !text.contains('\'') && !text.contains(is_hidden) {
        return format!("'{text}'");
    }
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if is_hidden(c) => format!("\\U{:08X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// A stage as a key.
fn key(stage: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !stage.is_empty() && stage.chars().all(is_bare) {
        stage.to_owned()
    } else {
        quoted(stage)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_server::{FoundKind, OccupancyWay};
    use weir_study::{LimitSetter, StudyFile, TargetKind};

    use super::*;

    fn limit(stage: &str, value: u64, set: SetWay) -> FoundLimit {
        FoundLimit {
            stage: stage.to_owned(),
            native: "maxThreads".to_owned(),
            value: FoundValue::Number(value),
            origin: "/opt/tomcat/conf/server.xml:71".to_owned(),
            set,
        }
    }

    fn found() -> Found {
        Found {
            pid: 4711,
            kind: FoundKind::Tomcat,
            name: "Apache Tomcat/11.0.24".to_owned(),
            limits: vec![
                limit(
                    "backlog",
                    100,
                    SetWay::Not("acceptCount needs a restart".to_owned()),
                ),
                limit("connections", 8192, SetWay::Jmx),
                limit("threads", 200, SetWay::Jmx),
                limit("pool.db", 10, SetWay::Jmx),
                limit(
                    "native.other",
                    5,
                    SetWay::Command {
                        set: "echo '{value}' > \"a b\"".to_owned(),
                        get: None,
                        does: "writes a file".to_owned(),
                    },
                ),
            ],
            metrics: None,
            occupancy: OccupancyWay::Told,
            agent: AgentWay::Loads,
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn the_cpus_are_those_that_the_server_may_use() {
        let found = found();
        let written = |cpus: Option<(&'static str, &'static str)>| {
            study(&Draft {
                cpus: cpus.map(|(of_server, of_machine)| Cpus {
                    of_server,
                    of_machine,
                }),
                ..draft(Some(&found))
            })
        };
        let bound = written(Some(("0", "0-1")));
        assert!(
            bound.contains("\ncpus = \"0\"\n") && bound.contains("0 of 0-1"),
            "{bound}"
        );
        assert!(written(Some(("0-3", "0-3"))).contains("\n# cpus = \"0-3\"\n"));
        assert!(written(None).contains("could not be seen"));
    }

    /// What a hostile process is called, and where it has its files, stays inside comments and
    /// texts.
    #[test]
    fn names_that_break_out_of_lines_stay_in_them() {
        let hostile = "x\n[load]\nurl = \"/evil\"\u{1b}[2J\u{7f}'\\";
        let mut found = found();
        found.name = hostile.to_owned();
        found.notes = vec![hostile.to_owned()];
        found.metrics = Some(hostile.to_owned());
        for limit in &mut found.limits {
            limit.origin = hostile.to_owned();
            limit.value = FoundValue::Written(hostile.to_owned());
        }
        found.limits[3].set = SetWay::Not(hostile.to_owned());
        found.limits[4].set = SetWay::Command {
            set: hostile.to_owned(),
            get: Some(hostile.to_owned()),
            does: hostile.to_owned(),
        };
        let text = study(&draft(Some(&found)));
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text}"
        );
        let load = text.lines().filter(|line| *line == "[load]").count();
        assert_eq!(load, 1, "{text}");
        let read: toml::Table = text.parse().unwrap();
        assert_eq!(read["load"]["url"].as_str(), Some("/a?b=\"c\""));
    }

    fn draft(found: Option<&Found>) -> Draft<'_> {
        Draft {
            typed: "weir init http://127.0.0.1:8080/a?b=\"c\"",
            file: "study.toml",
            server: "http://127.0.0.1:8080",
            path: "/a?b=\"c\"",
            ssh: None,
            found,
            cpus: None,
            plan: None,
            rates: None,
        }
    }

    /// The text, with every comment that is a setting taken in.
    fn taken_in(text: &str) -> String {
        let is_setting = |line: &&str| {
            let line = line.trim_start_matches("# ");
            let named = [
                "[target.external.found]",
                "threads =",
                "\"pool.db\" =",
                "connections =",
                "\"native.other\" =",
            ];
            named.iter().any(|start| line.starts_with(start))
        };
        text.lines()
            .map(|line| {
                if is_setting(&line) {
                    line.trim_start_matches("# ")
                } else {
                    line
                }
            })
            .fold(String::new(), |text, line| text + line + "\n")
    }

    fn parsed(text: &str) -> StudyFile {
        StudyFile::parse(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
    }

    #[test]
    fn a_study_is_accepted_and_says_everything() {
        let found = found();
        let text = study(&draft(Some(&found)));
        let read = parsed(&text);
        let TargetKind::External(spec) = &read.target.kind else {
            panic!("{text}");
        };
        let names: Vec<&str> = spec.limits.keys().map(String::as_str).collect();
        assert_eq!(names, ["pool.db", "threads"]);
        assert!(
            spec.limits
                .values()
                .all(|limit| limit.set == LimitSetter::Jmx)
        );
        assert_eq!(spec.pid, None, "another one after each start");
        for part in [
            "# backlog: acceptCount needs a restart.",
            "#   threads                      200        maxThreads (/opt/tomcat/conf/server.xml:71)",
            "# Note: a note.",
            "# Its process is the one that listens on the port, 4711 now.",
            "url = '/a?b=\"c\"'",
            "weir check study.toml",
            "weir tune study.toml --dry-run",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 140),
            "{text}"
        );
    }

    #[test]
    fn what_stands_as_a_comment_can_be_taken_in() {
        let text = taken_in(&study(&draft(Some(&found()))));
        let TargetKind::External(spec) = parsed(&text).target.kind else {
            panic!("{text}");
        };
        let other = &spec.limits["native.other"];
        assert_eq!(
            other.set,
            LimitSetter::Command("echo '{value}' > \"a b\"".to_owned())
        );
        assert_eq!(other.found, Some(5.0));
        assert_eq!(spec.limits["connections"].set, LimitSetter::Jmx);
    }

    #[test]
    fn texts_are_quoted_as_toml_reads_them() {
        for text in ["a", "a'b", "a\"b", "'\"\\\u{1}\n"] {
            let read: toml::Table = toml::from_str(&format!("x = {}", quoted(text))).unwrap();
            assert_eq!(read["x"].as_str(), Some(text));
        }
        assert_eq!(quoted("sed 's/a/b/'"), "\"sed 's/a/b/'\"");
    }

    #[test]
    fn without_an_agent_the_user_is_asked() {
        let mut found = found();
        found.agent = AgentWay::Not("it belongs to user 7".to_owned());
        let text = study(&draft(Some(&found)));
        let TargetKind::External(spec) = parsed(&text).target.kind else {
            panic!("{text}");
        };
        assert!(spec.limits.is_empty() && spec.jolokia.is_none());
        assert!(text.contains("it belongs to user 7"));
        let TargetKind::External(spec) = parsed(&taken_in(&text)).target.kind else {
            panic!("{text}");
        };
        assert_eq!(spec.limits["threads"].set, LimitSetter::Ask);
        assert_eq!(spec.limits["threads"].found, Some(200.0));
        assert!(!spec.thread_dumps);

        found.agent = AgentWay::Useless("it has no MBeans".to_owned());
        let text = study(&draft(Some(&found)));
        let TargetKind::External(spec) = parsed(&text).target.kind else {
            panic!("{text}");
        };
        assert!(spec.thread_dumps && spec.jolokia.is_none(), "{text}");
        assert!(text.contains("it has no MBeans"), "{text}");
    }

    #[test]
    fn a_server_of_another_machine_is_read_over_ssh() {
        let mut found = found();
        found.agent = AgentWay::Not("it is elsewhere".to_owned());
        let text = study(&Draft {
            ssh: Some(("app01", Some("my config"))),
            ..draft(Some(&found))
        });
        let TargetKind::External(spec) = parsed(&text).target.kind else {
            panic!("it runs already")
        };
        let ssh = spec.ssh.expect("it is elsewhere");
        assert_eq!(ssh.get_ref(), "app01");
        assert!(spec.jolokia.is_none(), "{text}");
    }

    #[test]
    fn a_server_that_nobody_knows_has_a_study_too() {
        let mut found = found();
        found.kind = FoundKind::Unknown;
        found.limits.clear();
        found.agent = AgentWay::NoJvm;
        for found in [None, Some(&found)] {
            let text = study(&Draft {
                cpus: None,
                plan: Some("plan.jmx"),
                rates: Some(Rates {
                    length_s: 60,
                    mean_per_s: 1.5,
                    peak_second: 9,
                    peak_minute_per_s: 1.5,
                    peak_minute_at: 0,
                }),
                ..draft(found)
            });
            parsed(&text);
            assert!(text.contains("1.500/s in the mean over 60 s"), "{text}");
        }
    }
}
