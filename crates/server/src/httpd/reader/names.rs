//! The names that conditions and variables of a configuration ask for: modules, defined words,
//! the environment, the version.

use std::collections::{BTreeMap, BTreeSet};

use super::Host;
use super::conditions::{Truth, numbers, of_version};

/// The modules that make processes.
const MPMS: [&str; 3] = ["prefork", "event", "worker"];

/// What is known so far.
#[derive(Debug)]
pub(super) struct Names {
    version: Option<[u64; 3]>,
    /// Names of modules that are loaded, as `IfModule` may call them.
    modules: BTreeSet<String>,
    /// Those that may be loaded.
    perhaps_modules: BTreeSet<String>,
    /// Whether modules that are not named may be there.
    may_have_others: bool,
    defines: BTreeMap<String, String>,
    /// Names of which it is not known whether they are defined, or as what.
    perhaps_defined: BTreeSet<String>,
    /// Whether names that are not known may be defined, with values.
    may_define_others: bool,
    /// Whether the command line may define names that are not known.
    may_be_typed: bool,
    environment: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of(host: &Host<'_>) -> Self {
        let defines = host.defines.iter().flatten();
        Self {
            version: host.version.as_deref().and_then(numbers),
            modules: host.modules.iter().flatten().cloned().collect(),
            perhaps_modules: BTreeSet::new(),
            may_have_others: host.modules.is_none(),
            defines: defines.map(|name| (name.clone(), String::new())).collect(),
            perhaps_defined: BTreeSet::new(),
            may_define_others: false,
            may_be_typed: host.defines.is_none(),
            environment: host.environment.clone(),
        }
    }

    /// Something that was not read may load or define anything.
    pub(super) fn anything_may_be(&mut self) {
        self.may_have_others = true;
        self.may_define_others = true;
    }

    pub(super) fn load(&mut self, module: &str, is_sure: bool) {
        if is_sure {
            self.modules.insert(module.to_owned());
        } else {
            self.perhaps_modules.insert(module.to_owned());
        }
    }

    pub(super) fn define(&mut self, name: &str, value: String, is_sure: bool) {
        if is_sure {
            self.perhaps_defined.remove(name);
            self.defines.insert(name.to_owned(), value);
        } else {
            self.perhaps_defined.insert(name.to_owned());
        }
    }

    pub(super) fn undefine(&mut self, name: &str, is_sure: bool) {
        if is_sure {
            self.perhaps_defined.remove(name);
            self.defines.remove(name);
        } else {
            self.perhaps_defined.insert(name.to_owned());
        }
    }

    pub(super) fn is_defined(&self, name: &str) -> Truth {
        if self.perhaps_defined.contains(name) {
            return Truth::Unsure;
        }
        let may_be = self.may_define_others || self.may_be_typed;
        match (self.defines.contains_key(name), may_be) {
            (false, true) => Truth::Unsure,
            (is_defined, _) => Truth::of(is_defined),
        }
    }

    pub(super) fn is_version(&self, words: &[&str]) -> Truth {
        of_version(words, self.version)
    }

    /// Modules go by their name or by the name of their source file.
    pub(super) fn is_loaded(&self, asked: &str) -> Truth {
        let is_in =
            |names: &BTreeSet<String>| other_names(asked).iter().any(|name| names.contains(name));
        if is_in(&self.modules) {
            return Truth::Yes;
        }
        if is_in(&self.perhaps_modules) {
            return Truth::Unsure;
        }
        // A server has one module that makes processes.
        let is_other_mpm = is_mpm(asked) && !self.mpms().is_empty();
        if self.may_have_others && !is_other_mpm {
            Truth::Unsure
        } else {
            Truth::No
        }
    }

    pub(super) fn mpms(&self) -> Vec<&'static str> {
        let is_there = |mpm: &&str| {
            let names = other_names(&format!("mpm_{mpm}_module"));
            names.iter().any(|name| self.modules.contains(name))
        };
        MPMS.into_iter().filter(is_there).collect()
    }

    /// A word with its `${VARIABLES}` filled in; one that is not known stays as it is written.
    pub(super) fn filled(&self, word: &str) -> String {
        let mut filled = String::new();
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once("${") {
            filled.push_str(before);
            let Some((name, after)) = behind.split_once('}') else {
                return filled + "${" + behind;
            };
            let is_unsure = self.perhaps_defined.contains(name)
                || self.may_define_others && !self.defines.contains_key(name);
            let value = self
                .defines
                .get(name)
                .or_else(|| self.environment.get(name));
            match value.filter(|_| !is_unsure) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["${", name, "}"]),
            }
            rest = after;
        }
        filled + rest
    }
}

/// The first variable of a word that was not filled in.
pub(super) fn unfilled(word: &str) -> Option<&str> {
    let (_, behind) = word.split_once("${")?;
    Some(behind.split_once('}')?.0)
}

/// Whether a module's name means one that makes processes.
pub(super) fn is_mpm(module: &str) -> bool {
    let word = module.strip_prefix("mpm_");
    let word = word.and_then(|rest| rest.strip_suffix("_module"));
    let word = word.or_else(|| module.strip_suffix(".c"));
    word.is_some_and(|word| MPMS.contains(&word))
}

/// The names that a module may be known under: its own, and by the server's convention that of its
/// source file.
fn other_names(asked: &str) -> Vec<String> {
    let mut names = vec![asked.to_owned()];
    if let Some(name) = asked.strip_suffix("_module") {
        let of_mpm = name.strip_prefix("mpm_");
        names.push(of_mpm.map_or_else(|| format!("mod_{name}.c"), |mpm| format!("{mpm}.c")));
    } else if let Some(file) = asked.strip_suffix(".c") {
        if MPMS.contains(&file) {
            names.push(format!("mpm_{file}_module"));
        } else if let Some(name) = file.strip_prefix("mod_") {
            names.push(format!("{name}_module"));
        }
    }
    names
}
