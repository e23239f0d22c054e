//! What a plan reaches, in the words of `weir check`: files, servers, scripts, the machine.

use std::collections::BTreeMap;

use weir_plan::LoadPlan;
use weir_record::{CheckedCall, CheckedFile, CheckedScript, CheckedServer};
use weir_script::{MachineUse, Properties, ResolvedPlan, ScriptUse, machine_asked, scripts_used};

use crate::plan_files::{self, JudgedFile};

/// Most lines of a plan that are named for one thing.
const LINES_MAX: usize = 8;

/// What a plan reaches, as far as it shows before it runs.
#[derive(Default)]
pub(crate) struct PlanReach {
    pub(crate) files: Vec<JudgedFile>,
    servers: Vec<CheckedServer>,
    scripts: Vec<ScriptUse>,
    machine: Vec<MachineUse>,
}

impl PlanReach {
    /// Of a plan with these properties. Nothing is written by looking.
    pub(crate) fn of(plan: &LoadPlan, properties: &Properties) -> Self {
        Self {
            files: plan_files::of_plan(plan, properties),
            servers: Vec::new(),
            scripts: scripts_used(plan),
            machine: machine_asked(plan),
        }
    }

    /// With the servers that the plan names itself.
    pub(crate) fn with_servers_of(mut self, plan: &ResolvedPlan) -> Self {
        // What keeps them from being known is told as what keeps the plan from running.
        let hosts = plan.hosts(None).unwrap_or_default();
        let servers = hosts.into_iter().map(|host| CheckedServer {
            line: host.at.line,
            server: match &host.proxy {
                Some(proxy) => {
                    let (name, port) = (&proxy.host, proxy.port);
                    format!("{} through the proxy {name}:{port}", host.server)
                }
                None => host.server.to_string(),
            },
        });
        self.servers = servers.collect();
        self
    }

    /// How many files it may not touch that Weir itself would.
    pub(crate) fn refused(&self) -> usize {
        let files = self.files.iter();
        files
            .filter(|file| file.is_refused && !file.only_jmeter())
            .count()
    }

    /// As programs read it.
    pub(crate) fn tell_programs(&self, checked: &mut CheckedFile) {
        checked.named_files = self.files.iter().map(JudgedFile::checked).collect();
        checked.servers.clone_from(&self.servers);
        let scripts = self.scripts.iter().map(|script| CheckedScript {
            line: script.at.line,
            column: script.at.column,
            language: script.language.clone(),
        });
        checked.scripts = scripts.collect();
        let machine = self.machine.iter().map(|asked| CheckedCall {
            line: asked.at.line,
            column: asked.at.column,
            function: asked.function.clone(),
        });
        checked.machine = machine.collect();
    }

    /// As people read it, without the plan's name.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for server in &self.servers {
            lines.push(format!(
                "requests go to {} (line {})",
                server.server, server.line
            ));
        }
        if !self.files.is_empty() {
            lines.push("files that the plan reads or writes:".to_owned());
            lines.extend(self.files.iter().map(|file| format!("  {}", file.line())));
        }
        for (language, at) in by(&self.scripts, |script| (&script.language, script.at.line)) {
            let scripts = match at.len() {
                1 => "1 script".to_owned(),
                count => format!("{count} scripts"),
            };
            lines.push(format!(
                "{scripts} in {language} ({}): variables, properties, samples, the log, and files as far as the plan \
                 may touch them; no environment, no other programs, no connections",
                lines_in_words(at)
            ));
        }
        for (function, at) in by(&self.machine, |asked| (&asked.function, asked.at.line)) {
            let what = if function == "__machineIP" {
                "address"
            } else {
                "name"
            };
            lines.push(format!(
                "{function} ({}) tells the plan this machine's {what}",
                lines_in_words(at)
            ));
        }
        if !self.files.is_empty() || !self.scripts.is_empty() {
            lines.push(plan_files::OF_JMETER.to_owned());
        }
        lines
    }
}

/// The lines of the plan by what stands there, one for each time.
fn by<'a, T>(
    uses: &'a [T],
    of: impl Fn(&'a T) -> (&'a String, u32),
) -> BTreeMap<&'a str, Vec<u32>> {
    let mut found: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (what, line) in uses.iter().map(of) {
        found.entry(what).or_default().push(line);
    }
    found
}

fn lines_in_words(mut lines: Vec<u32>) -> String {
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(LINES_MAX).map(u32::to_string).collect();
    let line = if lines.len() == 1 { "line" } else { "lines" };
    let others = match lines.len().saturating_sub(LINES_MAX) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("{line} {}{others}", shown.join(", "))
}
