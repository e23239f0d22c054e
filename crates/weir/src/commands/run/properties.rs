//! JMeter's properties: which files hold them and which wins.
//!
//! Later ones win: `jmeter.properties` (`-p`, else that of `-d`), `user.properties`, the files of
//! `-q` in order, `-J`. A `-J` without a value takes the property away.

use std::path::{Path, PathBuf};

use weir_script::Properties;

use super::grammar::PlanArguments;
use crate::error::ExpectedError;

/// All properties of a run.
pub(crate) fn read(arguments: &PlanArguments) -> Result<Properties, ExpectedError> {
    let mut properties = Properties::new();
    if let Some(file) = main_file(arguments) {
        load(&mut properties, &file)?;
    }
    if let Some(file) = user_file(arguments, &properties) {
        load(&mut properties, &file)?;
    }
    for file in &arguments.property_file {
        load(&mut properties, file)?;
    }
    for (name, value) in typed(arguments) {
        // JMeter takes a property without a value away.
        if value.is_empty() {
            properties.remove(name);
        } else {
            properties.set(name, value);
        }
    }
    Ok(properties)
}

/// What `-J` gives, in the order in which it was typed.
pub(super) fn typed(arguments: &PlanArguments) -> impl Iterator<Item = (&str, &str)> {
    let typed = arguments.property.iter();
    typed.map(|given| given.split_once('=').unwrap_or((given, "")))
}

/// The main file: the one that is named, or that of a JMeter's home.
fn main_file(arguments: &PlanArguments) -> Option<PathBuf> {
    if let Some(named) = &arguments.main_properties {
        return Some(named.clone());
    }
    let home = arguments.home.as_ref()?;
    let file = home.join("bin/jmeter.properties");
    file.is_file().then_some(file)
}

/// `user.properties`, or what the main file names instead: in the working directory, else in the
/// home's `bin`. JMeter goes without when it is not there.
fn user_file(arguments: &PlanArguments, main: &Properties) -> Option<PathBuf> {
    let name = main.get("user.properties").unwrap_or("user.properties");
    let home = arguments
        .home
        .as_ref()
        .map(|home| home.join("bin").join(name));
    let here = PathBuf::from(name);
    [Some(here), home]
        .into_iter()
        .flatten()
        .find(|file| file.is_file())
}

fn load(properties: &mut Properties, file: &Path) -> Result<(), ExpectedError> {
    let text = std::fs::read(file)
        .map_err(|error| ExpectedError::Input(format!("{}: {error}", file.display())))?;
    properties.load(&String::from_utf8_lossy(&text));
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// What JMeter 5.6.3 made of `${__P(x,dflt)}` with these words: `dflt` for `x` and `y`.
    #[test]
    fn a_property_without_a_value_is_taken_away() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x=1\ny=2\nz=3\n").unwrap();
        let path = file.path().to_str().unwrap();
        let words = ["weir run", "a.jmx", "-q", path, "-Jx=", "-Jy", "-Jw=4"];
        let read = read(&PlanArguments::parse_from(words)).unwrap();
        let values = ["x", "y", "z", "w"].map(|name| read.get(name));
        assert_eq!(values, [None, None, Some("3"), Some("4")]);
    }
}
