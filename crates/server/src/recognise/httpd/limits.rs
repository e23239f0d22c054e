//! The limits that an httpd's configuration sets, as httpd uses them, and how each can be set.

use std::path::PathBuf;

use super::options::{option, options};
use crate::httpd::Mpm;
use crate::httpd::directives::{Directive, THREADS, Values, directives, settled, stage_of};
use crate::httpd::reader::{Reading, Statement, Written};
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::recognise::found::{Found, FoundLimit, FoundValue, SetWay};
use crate::recognise::liberty::quoted;
use crate::server::NATIVE;

/// The limits of a server whose configuration was read.
pub(super) struct Limits<'a> {
    pub(super) reading: &'a Reading,
    pub(super) mpm: Mpm,
    pub(super) facts: &'a ProcessFacts,
    pub(super) machine: &'a Machine,
}

impl Limits<'_> {
    /// Adds them, and what httpd changes of them.
    pub(super) fn tell(&self, found: &mut Found) {
        let mut values = Values::new();
        for directive in directives(self.mpm) {
            let number = match self.reading.written(self.mpm, directive) {
                Written::Nowhere => directive.default_of(self.mpm),
                Written::At(statement) => statement.first().parse().ok(),
                Written::Unsure(_) => None,
            };
            if let Some(number) = number {
                values.insert(directive.name, number);
            }
        }
        let (settled, says) = settled(self.mpm, &values);
        let mut limits: Vec<FoundLimit> = directives(self.mpm)
            .map(|directive| self.limit(directive, &values, &settled))
            .collect();
        limits.sort_by_key(|limit| limit.stage.starts_with(NATIVE));
        found.limits.extend(limits);
        found.notes.extend(says);
    }

    fn limit(&self, directive: &Directive, values: &Values, settled: &Values) -> FoundLimit {
        let stage = stage_of(directive);
        let name = directive.name;
        let written = self.reading.written(self.mpm, directive);
        let (mut value, mut origin) = match written {
            Written::At(statement) => (
                FoundValue::of(statement.first()),
                self.reading.place(statement),
            ),
            Written::Nowhere => match settled.get(name) {
                Some(number) => (FoundValue::Number(*number), "default".to_owned()),
                None => (FoundValue::NotKnown, "default".to_owned()),
            },
            Written::Unsure(statement) => (FoundValue::NotKnown, self.why_unsure(statement)),
        };
        if let (Some(before), Some(after)) = (values.get(name), settled.get(name))
            && before != after
        {
            value = FoundValue::Number(*after);
            origin = format!("{origin}, which says {before}");
        }
        // The number of workers is cut to what others allow.
        let mut bounds = self.mpm.bounds_workers().iter();
        if stage == THREADS
            && value != FoundValue::NotKnown
            && let Some(other) = bounds.find(|other| !values.contains_key(*other))
        {
            value = FoundValue::NotKnown;
            origin = format!("{origin}; {other} is not known, which bounds it");
        }
        FoundLimit {
            set: self.set_way(&stage, name, &written),
            stage,
            native: name.to_owned(),
            value,
            origin,
        }
    }

    fn why_unsure(&self, statement: &Statement) -> String {
        let place = self.reading.place(statement);
        match (&statement.unread, &statement.condition) {
            (Some(why), _) => format!("{why} ({place})"),
            (None, Some(section)) => format!("whether the section {section} counts is not known"),
            (None, None) => place,
        }
    }

    fn set_way(&self, stage: &str, name: &str, written: &Written<'_>) -> SetWay {
        let (facts, machine) = (self.facts, self.machine);
        let written = match written {
            Written::At(statement) => Ok(*statement),
            Written::Nowhere => Err(format!(
                "{name} is written nowhere: write it into the configuration and run weir init again"
            )),
            Written::Unsure(statement) => Err(format!(
                "where {name} is written is not known ({})",
                self.why_unsure(statement)
            )),
        };
        let place = written.as_ref().map_or_else(
            |_| "the configuration".to_owned(),
            |statement| self.reading.place(statement),
        );
        if stage != THREADS {
            return SetWay::Not(format!("change it at {place}, then stop and start httpd"));
        }
        let written = match written {
            Ok(written) => written,
            Err(why) => return SetWay::Not(why),
        };
        let is_number = written
            .line
            .first()
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        let path = &self.reading.files[written.file].path;
        if !is_number || !path.is_absolute() {
            return SetWay::Not(format!(
                "{name} is not written as a number in a file ({place}): write it so, and run weir init again"
            ));
        }
        // A study may be run by root, and its commands with it.
        let program = machine.own_program(facts).map(|_| ());
        let file = machine.why_not_change(path).map_or(Ok(()), Err);
        if let Err(why) = program.and(file) {
            return SetWay::Not(format!(
                "{why}, so no command is written that would run or change it for whoever runs Weir: change {name} at \
                 {place} as user {}, then reload httpd, or let Weir ask you (\"ask\")",
                facts.user
            ));
        }
        let file = quoted(path);
        let (line, program) = (written.line.number, quoted(&facts.program));
        let named = ['d', 'f']
            .iter()
            .filter_map(|letter| Some((*letter, option(facts, *letter)?)));
        let defined = options(facts, 'D').into_iter().map(|name| ('D', name));
        let options: String = named
            .chain(defined)
            .flat_map(|(letter, value)| [format!(" -{letter} "), quoted(&PathBuf::from(value))])
            .collect();
        SetWay::Command {
            set: format!(
                "sed -i --follow-symlinks '{line}s/[0-9][0-9]*/{{value}}/' {file} && {program}{options} -k graceful"
            ),
            get: Some(format!("sed -n {line}p {file}")),
            does: format!(
                "changes the number on line {line} of {file} and reloads httpd gracefully; needs the rights to do so. On \
                 Debian write `apachectl graceful` for the part behind &&. Above ServerLimit a stop and start is needed"
            ),
        }
    }
}
