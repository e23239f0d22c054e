//! Names whose values may change while the test runs, so that no text may be fixed on them.

use std::collections::BTreeSet;

use crate::function;
use crate::parse::{self, Part};

/// Variables, or properties, that something in a plan sets while the test runs: functions,
/// extractors, data sets, scripts.
///
/// Too many names cost time in the load engine; one too few makes a text wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settable {
    all: bool,
    names: BTreeSet<String>,
    starts: BTreeSet<String>,
}

impl Settable {
    /// Nothing is set: each value is what it was before the test.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// This name is set.
    pub fn add(&mut self, name: impl Into<String>) {
        self.names.insert(name.into());
    }

    /// Names that start like this are set, such as the `X_1`, `X_g1` and `X_matchNr` of an
    /// extractor.
    pub fn add_starting_with(&mut self, start: impl Into<String>) {
        self.starts.insert(start.into());
    }

    /// A name that is not known before the test is set, so it may be any.
    pub fn add_all(&mut self) {
        self.all = true;
    }

    /// The name in quotes that an argument begins with is set, or any if it is none.
    fn add_named_by(&mut self, arguments: &str) {
        let inside = arguments.trim_start().trim_start_matches('(').trim_start();
        let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''));
        let named = quote.and_then(|quote| inside[1..].split_once(quote));
        match named {
            // What is more than a text in quotes names something else.
            Some((name, rest))
                if !name.contains(['$', '\\'])
                    && rest.trim_start().starts_with([',', ')', ']']) =>
            {
                self.add(name);
            }
            _ => self.add_all(),
        }
    }

    /// Whether this name may be set.
    pub fn contains(&self, name: &str) -> bool {
        let starts = || self.starts.iter().any(|start| name.starts_with(&**start));
        self.all || self.names.contains(name) || starts()
    }
}

/// What a plan sets while the test runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Variables of users.
    pub variables: Settable,
    /// Properties of the whole test.
    pub properties: Settable,
}

impl Changes {
    /// Adds what the functions in a text set: every text of a plan belongs here.
    ///
    /// What `__eval` and `__evalVar` make of other texts is not seen: a variable or property that
    /// only such a text sets has to be added by its name.
    pub fn add_text(&mut self, text: &str) {
        // A text that cannot be read is a problem when it is compiled.
        self.add_parts(&parse::parse(text).unwrap_or_default());
    }

    /// Adds what a script may set: any variable, if it has to do with variables, and the properties
    /// that it names.
    pub(crate) fn add_script(&mut self, script: &str) {
        if ["vars", "ctx", "Variables"]
            .iter()
            .any(|word| script.contains(word))
        {
            self.variables.add_all();
        }
        for (at, word) in script.match_indices("JMeterUtils.setProperty") {
            self.properties.add_named_by(&script[at + word.len()..]);
        }
        for (at, word) in script.match_indices("props") {
            self.add_use_of_properties(&script[..at], &script[at + word.len()..]);
        }
        if ["getProperties", "getJMeterProperties"]
            .iter()
            .any(|word| script.contains(word))
        {
            self.properties.add_all();
        }
    }

    /// What `props` is used for between these two parts of a script: reading sets nothing, what is
    /// neither reading nor setting by name may set anything.
    fn add_use_of_properties(&mut self, before: &str, after: &str) {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        if before.ends_with(is_of_name) || after.starts_with(is_of_name) {
            return;
        }
        let reads = [
            ".get(",
            ".getProperty(",
            ".getOrDefault(",
            ".containsKey(",
            ".getAt(",
        ];
        if reads.iter().any(|read| after.starts_with(read)) {
            return;
        }
        let sets = [".put(", ".putIfAbsent(", ".setProperty(", ".remove(", "["];
        match sets.iter().find_map(|set| after.strip_prefix(set)) {
            Some(named) => self.properties.add_named_by(named),
            None => self.properties.add_all(),
        }
    }

    fn add_parts(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::Call(call) = part {
                function::add_changes(call, self);
                call.arguments
                    .iter()
                    .for_each(|parts| self.add_parts(parts));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_set_what_they_name_or_anything() {
        for (script, p, q) in [
            ("props.get('p'); props.getProperty('p')", false, false),
            ("props.containsKey('p')", false, false),
            ("props.put('p', 5)", true, false),
            ("props.put( \"p\" , 5)", true, false),
            ("props['p'] = 5", true, false),
            ("props.remove('p')", true, false),
            ("props.putIfAbsent('p', '')", true, false),
            ("JMeterUtils.setProperty('p', '1')", true, false),
            ("props.put('p' + n, 5)", true, true),
            ("props.put(\"p$n\", 5)", true, true),
            ("props.put(name, 5)", true, true),
            ("props.p = 5", true, true),
            ("def all = props; all.put('p', 5)", true, true),
            ("props\n  .put('p', 5)", true, true),
            ("ctx.getProperties().put('p', 5)", true, true),
            ("my_props.put('p', 5); propsOf(1)", false, false),
        ] {
            let mut changes = Changes::default();
            changes.add_script(script);
            let found = ["p", "q"].map(|name| changes.properties.contains(name));
            assert_eq!(found, [p, q], "{script}");
        }
    }

    #[test]
    fn by_name_start_or_all() {
        let mut settable = Settable::nothing();
        assert!(!settable.contains("a"));
        settable.add("a");
        settable.add_starting_with("x_");
        let found = ["a", "ab", "x_1", "x", ""].map(|name| settable.contains(name));
        assert_eq!(found, [true, false, true, false, false]);
        settable.add_all();
        assert!(settable.contains(""));
    }
}
