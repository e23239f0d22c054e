//! The two grammars of `weir run`.
//!
//! Two kinds of people already have one in their fingers: with a `.jmx` plan every letter means
//! what it means to JMeter, with a URL what it means to ab, wrk and oha. Which one it is, is
//! decided before anything is parsed; a letter of the other grammar is refused with both meanings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use url::Url;
use weir_units::{CpuSet, parse_duration};

use crate::error::ExpectedError;

/// `weir run`, parsed.
#[derive(Debug)]
pub(crate) enum RunArguments {
    /// A JMeter plan.
    Plan(PlanArguments),
    /// A URL.
    Url(UrlArguments),
}

/// Options that both grammars have; all long, so that no letter is taken.
#[derive(Debug, Args)]
pub(crate) struct SharedArguments {
    /// Override host and port of every request.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub(crate) target: Option<String>,
    /// Allow sending load to this public host; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Write the result as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// CPUs for the load tool, such as `1` or `1-3` [default: all].
    #[arg(long, value_name = "CPUS")]
    pub(crate) load_cpus: Option<CpuSet>,
    /// CPUs of the server, when it runs on this machine: their busy share is the CPU that is shown
    /// [default: all].
    #[arg(long, value_name = "CPUS")]
    pub(crate) target_cpus: Option<CpuSet>,
    /// Process of the server, when it runs on this machine: its CPU, memory and threads are watched.
    #[arg(long, value_name = "PID")]
    pub(crate) target_pid: Option<u32>,
    /// Seed of the think times.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Run a JMeter plan: every letter has JMeter's meaning.
#[derive(Debug, Parser)]
#[command(
    name = "weir run PLAN.jmx",
    bin_name = "weir run",
    max_term_width = 100
)]
#[command(
    after_help = "With a URL instead of a plan, letters mean what ab, wrk and oha users expect: \
`weir run URL --help`."
)]
pub(crate) struct PlanArguments {
    /// The plan.
    #[arg(value_name = "PLAN.jmx", required_unless_present = "test_plan")]
    pub(crate) plan: Option<PathBuf>,
    /// The plan, as JMeter names it.
    #[arg(
        short = 't',
        long = "testfile",
        value_name = "PLAN.jmx",
        conflicts_with = "plan"
    )]
    pub(crate) test_plan: Option<PathBuf>,
    /// Accepted and without effect: Weir has no GUI.
    #[arg(short = 'n', long = "nongui")]
    pub(crate) non_gui: bool,
    /// Write every sample to this file, in JMeter's CSV form.
    #[arg(short = 'l', long = "logfile", value_name = "FILE.jtl")]
    pub(crate) log_file: Option<PathBuf>,
    /// Set a property of the plan; may be given several times.
    #[arg(
        short = 'J',
        long = "jmeterproperty",
        value_name = "NAME=VALUE",
        allow_hyphen_values = true
    )]
    pub(crate) property: Vec<String>,
    /// Read more properties from this file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    pub(crate) property_file: Vec<PathBuf>,
    /// What sends the load: Weir itself, or a JMeter of yours (`JMETER_HOME`) or of Weir's own cache,
    /// which Maven fills once. A JMeter runs every plan; see docs/reference/jmeter-engine.md.
    #[arg(long, value_enum, default_value_t = EngineName::Native)]
    pub(crate) engine: EngineName,
    /// Where runs with JMeter lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) shared: SharedArguments,
}

/// What sends a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Weir's own engine.
    Native,
    /// A real JMeter.
    Jmeter,
}

impl PlanArguments {
    /// The plan, whichever way it was given.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.plan.as_ref().or(self.test_plan.as_ref())
    }
}

/// Load one URL with a constant number of users, without think time.
#[derive(Debug, Parser)]
#[command(name = "weir run URL", bin_name = "weir run", max_term_width = 100)]
#[command(
    after_help = "With a .jmx plan, every letter has JMeter's meaning: `weir run --help PLAN.jmx`."
)]
pub(crate) struct UrlArguments {
    /// What to request.
    #[arg(value_name = "URL")]
    pub(crate) url: Url,
    /// Users at a time, each on a connection of its own.
    #[arg(short = 'c', long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections: u32,
    /// How long: `10s`, `5min`.
    #[arg(short = 'd', long, default_value = "10s", value_parser = duration)]
    pub(crate) duration: Duration,
    /// Request method.
    #[arg(short = 'm', long, default_value = "GET")]
    pub(crate) method: String,
    /// Add a request header; may be given several times.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Request body.
    #[arg(short = 'b', long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// Open a new connection for every request.
    #[arg(long)]
    pub(crate) no_keepalive: bool,
    #[command(flatten)]
    pub(crate) shared: SharedArguments,
}

fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err("a length of time is more than 0".to_owned()),
        Err(error) => Err(format!("failed to {error}")),
    }
}

/// A letter that only one of the grammars has today, with what it means there.
struct Letter {
    typed: &'static str,
    with_plan: &'static str,
    with_url: &'static str,
}

const LETTERS: &[Letter] = &[
    Letter {
        typed: "-c",
        with_plan: "nothing; the plan's thread groups say how many users there are (set their property with -J)",
        with_url: "the number of connections",
    },
    Letter {
        typed: "-d",
        with_plan: "JMeter's home directory, which Weir does not need",
        with_url: "the duration",
    },
    Letter {
        typed: "-m",
        with_plan: "nothing",
        with_url: "the request method",
    },
    Letter {
        typed: "-b",
        with_plan: "nothing",
        with_url: "the request body",
    },
    Letter {
        typed: "-H",
        with_plan: "the proxy host, which is not built yet",
        with_url: "a request header",
    },
    Letter {
        typed: "-t",
        with_plan: "the test plan",
        with_url: "nothing; the duration is -d",
    },
    Letter {
        typed: "-l",
        with_plan: "the file for every sample",
        with_url: "nothing; --json writes the result",
    },
    Letter {
        typed: "-J",
        with_plan: "a property of the plan",
        with_url: "nothing",
    },
    Letter {
        typed: "-q",
        with_plan: "a file of properties",
        with_url: "nothing",
    },
    Letter {
        typed: "-n",
        with_plan: "no GUI",
        with_url: "the number of requests, which is not built yet; limit the run with -d",
    },
];

const WITH_PLAN: &[&str] = &["-t", "-n", "-l", "-J", "-q"];
const WITH_URL: &[&str] = &["-c", "-d", "-m", "-H", "-b"];

/// Parses what follows `weir run`.
pub(crate) fn parse(words: &[OsString]) -> Result<RunArguments, ExpectedError> {
    let plan = is_plan(words);
    refuse_other_letters(words, plan)?;
    let full = std::iter::once(OsString::from("weir run")).chain(words.iter().cloned());
    Ok(if plan {
        RunArguments::Plan(PlanArguments::parse_from(full))
    } else {
        RunArguments::Url(UrlArguments::parse_from(full))
    })
}

fn is_plan(words: &[OsString]) -> bool {
    words.iter().any(|word| {
        let plan = Path::new(word)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"));
        let word = word.to_string_lossy();
        word.starts_with("-t") || (plan && !word.starts_with('-'))
    })
}

fn refuse_other_letters(words: &[OsString], plan: bool) -> Result<(), ExpectedError> {
    let here = if plan { WITH_PLAN } else { WITH_URL };
    let mut value_follows = false;
    for word in words {
        let word = word.to_string_lossy();
        if std::mem::take(&mut value_follows) || !word.starts_with('-') || word.starts_with("--") {
            continue;
        }
        let letter: String = word.chars().take(2).collect();
        if here.contains(&letter.as_str()) {
            value_follows = word.len() == 2 && letter != "-n";
            continue;
        }
        if let Some(known) = LETTERS.iter().find(|known| known.typed == letter) {
            return Err(ExpectedError::Mixed {
                letter,
                with_plan: known.with_plan,
                with_url: known.with_url,
                form: if plan { "a .jmx plan" } else { "a URL" },
            });
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_plan_is_recognised_wherever_it_stands() {
        for text in ["a.jmx", "-n -t a.jmx", "-J A=1 x/B.JMX", "-ta.jmx"] {
            assert!(is_plan(&words(text)), "{text}");
        }
        for text in ["http://127.0.0.1/ -c 4", "--help", "jmx"] {
            assert!(!is_plan(&words(text)), "{text}");
        }
    }

    #[test]
    fn letters_of_the_other_grammar_are_refused_with_both_meanings() {
        for (text, part) in [
            ("a.jmx -c 4", "the number of connections"),
            ("http://127.0.0.1/ -l x.jtl", "--json writes the result"),
            ("http://127.0.0.1/ -n 1000", "not built yet"),
        ] {
            let error = parse(&words(text)).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn values_are_not_taken_for_letters() {
        let read = parse(&words("a.jmx -J -c=5")).unwrap();
        let RunArguments::Plan(read) = read else {
            panic!("a plan");
        };
        assert_eq!(read.property, ["-c=5"]);
    }
}
