//! The two grammars of `weir run`.
//!
//! Two kinds of people already have one in their fingers: with a `.jmx` plan every letter means
//! what it means to JMeter, with a URL what it means to ab, wrk and oha. Which one it is, is
//! decided before anything is parsed; a letter of the other grammar is refused with both meanings.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, Parser, ValueEnum};
use url::Url;
use weir_metric::{CpuSet, Requirement};
use weir_plan::{ArrivalProcess, RateProfile};

use super::spellings;
use super::values::{self, Header, RandomField};
use crate::error::ExpectedError;
use crate::output;
use crate::plan_files::FileOptions;

/// `weir run`, parsed.
#[derive(Debug)]
pub(crate) enum RunArguments {
    /// A JMeter plan.
    Plan(Box<PlanArguments>),
    /// A URL.
    Url(Box<UrlArguments>),
}

/// Options that both grammars have; all long, so that no letter is taken.
#[derive(Debug, Args)]
pub(crate) struct SharedArguments {
    /// Override host and port of every request.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub(crate) target: Option<String>,
    /// Allow sending load to this public host, also where the host is found only at run time (in a
    /// file, a response, a redirect); may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Write the result as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// CPUs for the load generator, such as `1` or `1-3` [default: all].
    #[arg(long, value_name = "CPUS")]
    pub(crate) load_cpus: Option<CpuSet>,
    /// CPUs of the server, when it runs on this machine: their busy share is the CPU that is shown
    /// [default: all].
    #[arg(long, value_name = "CPUS")]
    pub(crate) target_cpus: Option<CpuSet>,
    /// Process of the server, when it runs on this machine: its CPU, memory and threads are
    /// watched.
    #[arg(long, value_name = "PID")]
    pub(crate) target_pid: Option<u32>,
    /// Require something of the run, such as `p99 <= 300 ms` or `errors <= 1 %`; may be given
    /// several times. Exit code 1 when one is not met.
    #[arg(long, value_name = "METRIC OP BOUND", value_parser = super::verdict::parse)]
    pub(crate) require: Vec<Requirement>,
    /// End the run when this has been so for 3 seconds one after the other, such as
    /// `errors > 10 %` or `p99 > 2 s`; may be given several times. Exit code 1.
    #[arg(long, value_name = "METRIC OP BOUND", value_parser = super::stop_when::parse)]
    pub(crate) stop_when: Vec<Requirement>,
    /// Write an XML file as `JUnit` does, with one test case for each requirement.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the response times of each second to this file, in `HdrHistogram`'s log format.
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,
    /// Serve the run's figures to Prometheus at this address while it lasts.
    #[arg(long, value_name = "127.0.0.1:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Speak HTTP/2, each user on one connection: with `https` where the server agrees, with
    /// `http` in any case.
    #[arg(long)]
    pub(crate) http2: bool,
    /// Seed of the think times.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Run a JMeter plan: every letter has JMeter's meaning.
#[derive(Debug, Parser)]
#[command(
    name = "weir run PLAN.jmx",
    bin_name = "weir run",
    max_term_width = 100,
    disable_help_flag = true,
    disable_version_flag = true
)]
#[command(
    after_help = "With a URL instead of a plan, letters mean what ab, wrk and oha users expect: \
`weir run URL --help`."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of JMeter's command line"
)]
pub(crate) struct PlanArguments {
    /// The plan.
    #[arg(
        value_name = "PLAN.jmx",
        required_unless_present_any = ["test_plan", "report_only", "version", "remote", "remote_start", "server"]
    )]
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
    /// Write every sample to this file, as the jmeter.save.saveservice properties say.
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
    #[command(flatten)]
    pub(crate) files: FileOptions,
    /// What sends the load: Weir itself, or a JMeter of yours (`JMETER_HOME`) or of Weir's own
    /// cache, which Maven fills once. A JMeter runs every plan; see
    /// docs/reference/jmeter-engine.md.
    #[arg(long, value_enum, default_value_t = EngineName::Native)]
    pub(crate) engine: EngineName,
    /// Where runs with JMeter lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    pub(crate) runs: PathBuf,
    /// Read the main properties from this file, before all others.
    #[arg(short = 'p', long = "propfile", value_name = "FILE")]
    pub(crate) main_properties: Option<PathBuf>,
    /// Write what is said to this file too, as JMeter's log has it.
    #[arg(short = 'j', long = "jmeterlogfile", value_name = "FILE")]
    pub(crate) run_log: Option<PathBuf>,
    /// Write a report (a page and statistics.json) after the run.
    #[arg(short = 'e', long = "reportatendofloadtests")]
    pub(crate) report: bool,
    /// Folder of the report, absent or empty [default: report-output].
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "FOLDER")]
    pub(crate) report_folder: Option<PathBuf>,
    /// Delete the result file and the report's folder first.
    #[arg(short = 'f', long = "forceDeleteResultFile")]
    pub(crate) force: bool,
    /// Run nothing: write the report of this result file.
    #[arg(short = 'g', long = "reportonly", value_name = "FILE.jtl")]
    pub(crate) report_only: Option<PathBuf>,
    /// A JMeter's home: its bin/jmeter.properties and bin/user.properties are read; the JMeter of
    /// `--engine jmeter`.
    #[arg(short = 'd', long = "homedir", value_name = "FOLDER")]
    pub(crate) home: Option<PathBuf>,
    /// Accepted and without effect: properties of remote engines.
    #[arg(
        short = 'G',
        long = "globalproperty",
        value_name = "NAME=VALUE",
        allow_hyphen_values = true
    )]
    pub(crate) global_property: Vec<String>,
    /// Properties of a Java machine: for `--engine jmeter`, else without effect.
    #[arg(
        short = 'D',
        long = "systemproperty",
        value_name = "NAME=VALUE",
        allow_hyphen_values = true
    )]
    pub(crate) system_property: Vec<String>,
    /// A file of them.
    #[arg(short = 'S', long = "systemPropertyFile", value_name = "FILE")]
    pub(crate) system_property_file: Vec<PathBuf>,
    /// How much JMeter logs: for `--engine jmeter`, else without effect.
    #[arg(short = 'L', long = "loglevel", value_name = "CATEGORY=LEVEL")]
    pub(crate) log_level: Vec<String>,
    /// The configuration of JMeter's log: for `--engine jmeter`, else without effect.
    #[arg(short = 'i', long = "jmeterlogconf", value_name = "FILE")]
    pub(crate) log_configuration: Option<PathBuf>,
    /// Send all requests that have no proxy of their own through this one; needs -P.
    #[arg(short = 'H', long = "proxyHost", value_name = "HOST")]
    pub(crate) proxy_host: Option<String>,
    /// Proxy port.
    #[arg(short = 'P', long = "proxyPort", value_name = "PORT")]
    pub(crate) proxy_port: Option<String>,
    /// How the proxy is spoken to; `http`.
    #[arg(short = 'E', long = "proxyScheme", value_name = "SCHEME")]
    pub(crate) proxy_scheme: Option<String>,
    /// Hosts that are reached without the proxy: `localhost|*.example.org`.
    #[arg(short = 'N', long = "nonProxyHosts", value_name = "HOSTS")]
    pub(crate) non_proxy_hosts: Option<String>,
    /// User name for the proxy.
    #[arg(short = 'u', long = "username", value_name = "NAME")]
    pub(crate) proxy_user: Option<String>,
    /// Password for the proxy.
    #[arg(short = 'a', long = "password", value_name = "PASSWORD")]
    pub(crate) proxy_password: Option<String>,
    /// Load from all remote hosts; not built yet.
    #[arg(short = 'r', long = "runremote")]
    pub(crate) remote: bool,
    /// Load from these remote hosts; not built yet.
    #[arg(short = 'R', long = "remotestart", value_name = "HOSTS")]
    pub(crate) remote_start: Option<String>,
    /// End the remote engines after the run; not built yet.
    #[arg(short = 'X', long = "remoteexit")]
    pub(crate) remote_exit: bool,
    /// Be a remote engine; not built yet.
    #[arg(short = 's', long = "server")]
    pub(crate) server: bool,
    /// Print the version.
    #[arg(short = 'v', long = "version")]
    pub(crate) version: bool,
    /// Print this help; `-?` does the same.
    #[arg(short = 'h', long = "help", action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
    /// Print this help, as JMeter's option is written.
    #[arg(short = '?', long = "?", action = ArgAction::Help, hide = true)]
    pub(crate) help_mark: Option<bool>,
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
    /// Weir itself where it runs all of the plan, else a JMeter; a line says which and why.
    Auto,
}

impl PlanArguments {
    /// The plan, whichever way it was given.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.plan.as_ref().or(self.test_plan.as_ref())
    }
}

const AFTER_URL: &str = "\
Options of ab, wrk, hey, oha and curl that mean the same are taken too: --help lists them. With a \
.jmx plan, every letter has JMeter's meaning: `weir run --help PLAN.jmx`.";

/// Load a URL, or several: with a constant number of users without think time, or with requests at
/// a rate.
#[derive(Debug, Parser)]
#[command(name = "weir run URL", bin_name = "weir run", max_term_width = 100)]
#[command(
    after_help = AFTER_URL,
    after_long_help = format!("{}\n{AFTER_URL}", spellings::help())
)]
pub(crate) struct UrlArguments {
    /// What to request; several are requested in turn. A name and a password in one are sent as
    /// Basic authorization.
    #[arg(value_name = "URL", value_parser = values::url, required_unless_present = "urls")]
    pub(crate) url: Vec<Url>,
    /// Request the URLs of this file too, one a line; lines that begin with `#` are left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) urls: Option<PathBuf>,
    /// Users at a time, each on a connection of its own; with --rate at most so many.
    #[arg(short = 'c', long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections: u32,
    /// How long: `10s`, `5min`, `10` for seconds [default: 10s, without -n; as long as the pieces
    /// of --rate].
    #[arg(short = 'd', long, value_parser = values::duration)]
    pub(crate) duration: Option<Duration>,
    /// How many requests all users send together; the run ends with the last one.
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Requests a second, whether earlier ones are answered or not: `5000`, a ramp
    /// `100..2000/60s`, steps and spikes `500/1min,5000/5s,500`. Response times count from
    /// when a request should have started.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) rate: Option<RateProfile>,
    /// How the requests of --rate lie in time.
    #[arg(long, value_enum, default_value_t = ArrivalsName::Constant, requires = "rate")]
    pub(crate) arrivals: ArrivalsName,
    /// Put a field with a random whole number into the query of each request: `page=1..499`; may
    /// be given several times.
    #[arg(long, value_name = "NAME=LOW..HIGH", value_parser = RandomField::parse)]
    pub(crate) random: Vec<RandomField>,
    /// Request method.
    #[arg(short = 'm', long, default_value = "GET", value_parser = values::method)]
    pub(crate) method: String,
    /// Add a request header; may be given several times.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = Header::parse)]
    pub(crate) header: Vec<Header>,
    /// Request body; `@FILE` takes it from a file.
    #[arg(short = 'b', long, value_name = "TEXT", value_parser = values::body)]
    pub(crate) body: Option<String>,
    /// A request fails that nothing comes back of for so long [default: none].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Open a new connection for every request.
    #[arg(long)]
    pub(crate) no_keepalive: bool,
    /// Where the run is kept, with its seconds and its report.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    pub(crate) runs: PathBuf,
    /// Keep nothing of the run.
    #[arg(long)]
    pub(crate) discard: bool,
    /// Send all requests through this HTTP proxy; `https` goes through a tunnel.
    #[arg(long, value_name = "http://[NAME:PASSWORD@]HOST:PORT", value_parser = values::proxy)]
    pub(crate) proxy: Option<Url>,
    #[command(flatten)]
    pub(crate) shared: SharedArguments,
}

/// How requests lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsName {
    /// Evenly.
    Constant,
    /// With random gaps, as independent users arrive: a Poisson process.
    Poisson,
}

impl From<ArrivalsName> for ArrivalProcess {
    fn from(name: ArrivalsName) -> Self {
        match name {
            ArrivalsName::Constant => Self::Constant,
            ArrivalsName::Poisson => Self::Poisson,
        }
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
        with_plan: "JMeter's home directory",
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
        with_plan: "the proxy host",
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
        typed: "-e",
        with_plan: "a report after the run",
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
        with_url: "the number of requests",
    },
];

/// JMeter's letters that take a value.
const PLAN_VALUES: &str = "tljogqpJGDSLiHPENuadR";
/// JMeter's letters that take none.
const PLAN_SWITCHES: &str = "nefrXsvh?";
/// The short form's letters that take a value.
const URL_VALUES: &str = "cdmHbn";
/// Letters that no URL has: with one of them and no URL, the command line is JMeter's.
const PLAN_ONLY: &str = "tgrRXsv?";

/// Parses what follows `weir run`.
pub(crate) fn parse(words: &[OsString]) -> Result<RunArguments, ExpectedError> {
    let plan = is_plan(words);
    let program = || std::iter::once(OsString::from("weir run"));
    if plan {
        refuse_other_letters(words, plan)?;
        let full = program().chain(words.iter().cloned());
        return Ok(RunArguments::Plan(Box::new(crate::cli::parsed(full))));
    }
    let translated = spellings::translate(words, URL_VALUES)?;
    refuse_other_letters(&translated.words, plan)?;
    let full = program().chain(translated.words);
    let read = crate::cli::parsed(full);
    for note in &translated.notes {
        output::talk(note);
    }
    Ok(RunArguments::Url(Box::new(read)))
}

fn is_plan(words: &[OsString]) -> bool {
    let names_plan = words.iter().any(|word| {
        let plan = Path::new(word)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"));
        plan && !word.to_string_lossy().starts_with('-')
    });
    let says_plan = || {
        words.iter().any(|word| {
            let word = word.to_string_lossy();
            word.starts_with("-t") || word.starts_with("--testfile")
        })
    };
    let names_place = || {
        let mut words = words.iter();
        words.any(|word| word.to_string_lossy().contains("://"))
    };
    if names_plan || (says_plan() && !names_url(words)) {
        return true;
    }
    let is_url = names_url(words) || names_place();
    !is_url && (has_only_letter(words) || has_only_word(words))
}

/// Whether a word that is no option's value is a URL, or an address without `http://`.
fn names_url(words: &[OsString]) -> bool {
    let mut before = None;
    words.iter().any(|word| {
        let word = word.to_string_lossy();
        let is_value = before
            .replace(word.clone())
            .is_some_and(|before| spellings::takes_next(&before, URL_VALUES));
        let has_scheme = word.starts_with("http://") || word.starts_with("https://");
        !is_value && (has_scheme || values::is_address(&word))
    })
}

/// Whether a letter stands there that no URL has. Of those that mean something with a URL too, `-n`
/// without a number can only be JMeter's.
fn has_only_letter(words: &[OsString]) -> bool {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let is_value = |text: &str| !text.starts_with('-');
    texts.iter().enumerate().any(|(at, text)| {
        letter(text).is_some_and(|letter| PLAN_ONLY.contains(letter))
            || (text == "-n" && !texts.get(at + 1).is_some_and(|next| is_value(next)))
    })
}

/// Whether a long option stands there that no URL has.
fn has_only_word(words: &[OsString]) -> bool {
    let long_options = |command: clap::Command| -> Vec<String> {
        let options = command.get_arguments();
        options
            .filter_map(|option| option.get_long().map(str::to_owned))
            .collect()
    };
    let of_urls = long_options(UrlArguments::command());
    let of_plans = long_options(PlanArguments::command());
    words.iter().any(|word| {
        let word = word.to_string_lossy();
        let option = word.strip_prefix("--").unwrap_or_default();
        let name = option.split('=').next().unwrap_or_default().to_owned();
        // clap gives the short form its help only when it parses.
        name != "help" && of_plans.contains(&name) && !of_urls.contains(&name)
    })
}

/// The letter of a short option.
fn letter(word: &str) -> Option<char> {
    let letter = word.strip_prefix('-')?.chars().next()?;
    (letter != '-').then_some(letter)
}

fn refuse_other_letters(words: &[OsString], plan: bool) -> Result<(), ExpectedError> {
    let (values, switches) = if plan {
        (PLAN_VALUES, PLAN_SWITCHES)
    } else {
        (URL_VALUES, "h")
    };
    let mut value_follows = false;
    for word in words {
        let word = word.to_string_lossy();
        if std::mem::take(&mut value_follows) {
            continue;
        }
        let Some(letter) = letter(&word) else {
            continue;
        };
        if values.contains(letter) {
            value_follows = word.len() == 2;
            continue;
        }
        if switches.contains(letter) {
            continue;
        }
        let typed = format!("-{letter}");
        if let Some(known) = LETTERS.iter().find(|known| known.typed == typed) {
            return Err(ExpectedError::Mixed {
                letter: typed,
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
        for text in [
            "a.jmx",
            "-n -t a.jmx",
            "-J A=1 x/B.JMX",
            "-ta.jmx",
            "-g a.jtl -o b",
            "-?",
            "-s",
            "--?",
            "--testfile plan.xml",
            "--reportonly=a.jtl -o b",
            "--runremote",
            "--version",
            "-n",
            "-n -l a.jtl",
        ] {
            assert!(is_plan(&words(text)), "{text}");
        }
        for text in [
            "http://127.0.0.1/ -c 4",
            "--help",
            "jmx",
            "x -n 5",
            "x --seed 2",
        ] {
            assert!(!is_plan(&words(text)), "{text}");
        }
    }

    #[test]
    fn letters_of_the_other_grammar_are_refused_with_both_meanings() {
        for (text, part) in [
            ("a.jmx -c 4", "the number of connections"),
            ("http://127.0.0.1/ -l x.jtl", "--json writes the result"),
            ("http://127.0.0.1/ -e", "a report after the run"),
            ("a.jmx -b x", "the request body"),
        ] {
            let error = parse(&words(text)).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn letters_of_jmeter_are_all_known() {
        let text = "-n -t a.jmx -l b.jtl -j c.log -e -o d -f -q e -p f -Ja=b -Gc=d -De=f -S g -L h=INFO -i i \
                    -d k -H proxy -P 1 -E http -N l -u m -a n";
        let RunArguments::Plan(read) = parse(&words(text)).unwrap() else {
            panic!("a plan");
        };
        assert!(read.report && read.force && read.non_gui);
        assert_eq!(read.property, ["a=b"]);
        let RunArguments::Plan(read) = parse(&words("-g a.jtl -o out")).unwrap() else {
            panic!("a report");
        };
        assert_eq!(read.report_only, Some(PathBuf::from("a.jtl")));
    }

    #[test]
    fn the_short_form_is_that_of_ab() {
        let text = "http://127.0.0.1/ -n 1000 -c 180 --random page=1..499";
        let RunArguments::Url(read) = parse(&words(text)).unwrap() else {
            panic!("a URL");
        };
        assert_eq!((read.requests, read.connections), (Some(1_000), 180));
        assert_eq!((read.random[0].low, read.random[0].high), (1, 499));
        assert_eq!(read.duration, None);
    }

    #[test]
    fn a_rate_is_one_word() {
        let text = "http://127.0.0.1/ --rate 100..2000/60s --arrivals poisson -c 180";
        let RunArguments::Url(read) = parse(&words(text)).unwrap() else {
            panic!("a URL");
        };
        assert_eq!(read.rate, Some("100..2000/60s".parse().unwrap()));
        assert_eq!(read.arrivals, ArrivalsName::Poisson);
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
