//! Where JMeter and Java are.

use std::path::{Path, PathBuf};

use crate::error::JmeterError;

/// What JMeter's own start script gives to Java.
const HEAP: &str = "-Xms1g -Xmx1g -XX:MaxMetaspaceSize=256m";

/// What the program found in its environment; nothing here reads it.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `JMETER_HOME`: the user's own JMeter.
    pub jmeter_home: Option<PathBuf>,
    /// `JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    /// `HEAP`, as JMeter's start script reads it.
    pub heap: Option<String>,
    /// `JVM_ARGS`, as JMeter's start script reads it.
    pub jvm_args: Option<String>,
    /// Weir's cache directory.
    pub cache: PathBuf,
}

/// An unpacked JMeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The JMeter that the user names, else the one in the cache; `None` when neither is there.
    ///
    /// # Errors
    /// The user names a directory that holds no JMeter.
    pub fn find(environment: &Environment) -> Result<Option<Self>, JmeterError> {
        if let Some(home) = &environment.jmeter_home {
            let found = Self::at(home);
            return match found {
                Some(home) => Ok(Some(home)),
                None => Err(JmeterError::NotAHome { home: home.clone() }),
            };
        }
        Ok(Self::at(&crate::assemble::place(&environment.cache)))
    }

    /// The JMeter in this directory.
    pub(crate) fn at(root: &Path) -> Option<Self> {
        let home = Self {
            root: root.to_owned(),
        };
        home.launcher().is_file().then_some(home)
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The jar that starts it.
    pub(crate) fn launcher(&self) -> PathBuf {
        self.root.join("bin").join("ApacheJMeter.jar")
    }

    /// The property files that JMeter reads by itself, in its order.
    pub fn property_files(&self) -> [PathBuf; 2] {
        ["jmeter.properties", "user.properties"].map(|name| self.root.join("bin").join(name))
    }
}

/// The Java that runs JMeter, and the options that its users set for JMeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    pub(crate) program: PathBuf,
    pub(crate) options: Vec<String>,
}

impl Java {
    /// `JAVA_HOME`'s Java, else the one in `PATH`, with JMeter's own heap unless `HEAP` says
    /// otherwise.
    pub fn of(environment: &Environment) -> Self {
        let program = environment
            .java_home
            .as_ref()
            .map(|home| home.join("bin").join("java"))
            .filter(|program| program.is_file())
            .unwrap_or_else(|| PathBuf::from("java"));
        let heap = environment.heap.as_deref().unwrap_or(HEAP);
        let more = environment.jvm_args.as_deref().unwrap_or_default();
        let options = heap.split_whitespace().chain(more.split_whitespace());
        Self {
            program,
            options: options.map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn a_home(root: &Path) {
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/ApacheJMeter.jar"), "").unwrap();
    }

    #[test]
    fn the_named_home_comes_before_the_cache_and_must_hold_a_jmeter() {
        let place = tempfile::tempdir().unwrap();
        let cache = place.path().join("cache");
        let named = place.path().join("named");
        let mut environment = Environment {
            cache: cache.clone(),
            ..Environment::default()
        };
        assert_eq!(Home::find(&environment).unwrap(), None);
        a_home(&crate::assemble::place(&cache));
        let cached = Home::find(&environment).unwrap().unwrap();
        assert!(cached.root().starts_with(&cache));
        environment.jmeter_home = Some(named.clone());
        let wrong = Home::find(&environment).unwrap_err().to_string();
        assert!(wrong.contains("bin/ApacheJMeter.jar"), "{wrong}");
        a_home(&named);
        assert_eq!(Home::find(&environment).unwrap().unwrap().root(), named);
    }

    #[test]
    fn options_of_java_are_those_of_the_start_script() {
        let mut environment = Environment::default();
        assert_eq!(Java::of(&environment).program, Path::new("java"));
        assert_eq!(Java::of(&environment).options[1], "-Xmx1g");
        environment.heap = Some("-Xmx256m".to_owned());
        environment.jvm_args = Some(" -Da=b  -Dc=d ".to_owned());
        assert_eq!(
            Java::of(&environment).options,
            ["-Xmx256m", "-Da=b", "-Dc=d"]
        );
    }
}
