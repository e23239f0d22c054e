//! The stage `database` from PostgreSQL itself: statements that run, connections, transactions.
//!
//! One `psql` stays connected and is asked once a second; what it costs the server is one of the
//! connections that PostgreSQL reserves, and under 3 ms of a CPU each time. A statement of a
//! millisecond is seldom caught by a reading of `pg_stat_activity`, so the time average comes from
//! `pg_stat_database.active_time`, which PostgreSQL has from version 14 on; its backends report it
//! at most once a second and when a statement ends.
//!
//! Why not a client library: those there are bring thirty crates, an asynchronous runtime among
//! them, for one question.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use crate::reading::Reading;

use super::Origins;
use super::rule::{Figures, Found, Role, Rule};

/// Questions without an answer after which the client is started anew.
const UNANSWERED_MAX: u64 = 10;

/// How PostgreSQL is asked: a `psql` and what it needs to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresqlClient {
    /// The program.
    pub program: PathBuf,
    /// What its environment has to have.
    pub environment: Vec<(String, String)>,
    /// How it connects, as options of `psql` (`-h`, `-p`, `-U`, `-d`): best to another database
    /// than the one that is watched, whose connections and transactions it would add to.
    pub connection: Vec<String>,
    /// The database that is watched.
    pub database: String,
}

impl PostgresqlClient {
    /// What is asked, as one row of numbers; `null` where this version has none.
    fn question(&self) -> String {
        let database = self.database.replace('\'', "''");
        format!(
            "SELECT count(*) FILTER (WHERE state = 'active'), \
             count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock'), \
             count(*) FILTER (WHERE state <> 'active'), \
             current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int, \
             (SELECT (to_jsonb(d) ->> 'active_time')::float8 FROM pg_stat_database d WHERE datname = '{database}'), \
             (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '{database}') \
             FROM pg_stat_activity WHERE datname = '{database}' AND backend_type = 'client backend';"
        )
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["-X", "-A", "-t", "-q", "-w", "-F", "|"])
            .args(&self.connection)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

/// The row's columns in order: the rule that each has a part in.
const COLUMNS: [usize; 6] = [1, 2, 3, 4, 0, 5];

/// Rules, the better figure of a signal first.
fn rules() -> Vec<Rule> {
    vec![
        Rule {
            scale: 0.001,
            ..Rule::growth("database.occupancy")
        },
        Rule::level("database.occupancy"),
        Rule::level("database.waiting"),
        Rule::level("database.idle"),
        Rule::level("database.limit"),
        Rule::growth("database.entries"),
    ]
}

/// A PostgreSQL while it is watched.
#[derive(Debug)]
pub(crate) struct PostgresqlSource {
    client: PostgresqlClient,
    question: String,
    session: Option<Session>,
    figures: Figures,
}

impl PostgresqlSource {
    pub(crate) fn new(client: PostgresqlClient) -> Self {
        Self {
            question: client.question(),
            client,
            session: None,
            figures: Figures::new(rules()),
        }
    }

    pub(crate) fn ask(&mut self) {
        if self.session.as_ref().is_some_and(Session::is_lost) {
            self.session = None;
        }
        if self.session.is_none() {
            self.session = Session::start(self.client.command());
        }
        let asked = self.session.as_mut().map(|s| s.ask(&self.question));
        if asked == Some(false) {
            self.session = None;
        }
    }

    pub(crate) fn read(&mut self, deadline: Instant, now: Instant, reading: &mut Reading) {
        let row = self.session.as_mut().and_then(|s| s.answer(deadline));
        self.figures.take(row.as_deref().map(found), now, reading);
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        for (signal, rule) in self.figures.came_by() {
            let view = match rule {
                0 | 5 => "pg_stat_database",
                4 => "pg_settings",
                _ => "pg_stat_activity",
            };
            let place = format!("psql {view} of {}", self.client.database);
            origins.entry(signal.to_owned()).or_insert(place);
        }
    }
}

/// The figures of a row; what is no number is not there.
fn found(row: &str) -> Vec<Found> {
    let rules = rules();
    row.split('|')
        .zip(COLUMNS)
        .filter_map(|(figure, rule)| {
            Some(Found {
                rule,
                role: Role::Value,
                signal: rules[rule].signal.clone(),
                figure: figure.parse().ok()?,
            })
        })
        .collect()
}

/// A connected `psql`; it ends when its input is closed, so also with Weir.
#[derive(Debug)]
struct Session {
    child: Child,
    lines: Receiver<String>,
    asked: u64,
    answered: u64,
}

impl Session {
    fn start(mut command: Command) -> Option<Self> {
        let mut child = command.spawn().ok()?;
        let output = BufReader::new(child.stdout.take()?);
        let (send, lines) = mpsc::channel();
        // Ends with the child's output.
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Some(Self {
            child,
            lines,
            asked: 0,
            answered: 0,
        })
    }

    /// Whether answers will not come any more.
    fn is_lost(&self) -> bool {
        self.asked - self.answered > UNANSWERED_MAX
    }

    /// Sends a question and a mark by which the end of its answer is known; false when the client
    /// has ended.
    fn ask(&mut self, question: &str) -> bool {
        self.asked += 1;
        let Some(input) = &mut self.child.stdin else {
            return false;
        };
        let text = format!("{question}\n\\echo {}\n", mark(self.asked));
        // A few hundred bytes into an empty pipe: it does not block.
        input.write_all(text.as_bytes()).is_ok()
    }

    /// The answer to the last question, if it comes in time; those to earlier ones are passed over.
    fn answer(&mut self, deadline: Instant) -> Option<String> {
        let mut row = None;
        loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(patience).ok()?;
            let Some(number) = line.strip_prefix(MARK) else {
                row = Some(line);
                continue;
            };
            self.answered = number.parse().unwrap_or(self.answered);
            if self.answered == self.asked {
                return row;
            }
            row = None;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It would end by itself now that its input closes, but perhaps not while it waits for a
        // server.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const MARK: &str = "weir-answered ";

fn mark(number: u64) -> String {
    format!("{MARK}{number}")
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use std::time::Duration;

    use super::*;

    fn readings(rows: &[&str]) -> Vec<Reading> {
        let mut figures = Figures::new(rules());
        let start = Instant::now();
        let seconds = (0..).map(|s| start + Duration::from_secs(s));
        rows.iter()
            .zip(seconds)
            .map(|(row, now)| {
                let mut reading = Reading::new();
                figures.take(Some(found(row)), now, &mut reading);
                reading
            })
            .collect()
    }

    #[test]
    fn time_spent_in_statements_is_the_time_average() {
        let readings = readings(&["4|1|6|300|1000.5|2000", "0|0|10|300|4500.5|2530"]);
        assert_eq!(readings[1]["database.occupancy"], 3.5);
        assert_eq!(readings[1]["database.entries"], 530.0);
        assert_eq!(readings[1]["database.idle"], 10.0);
        assert_eq!(readings[0]["database.waiting"], 1.0);
        assert_eq!(readings[0]["database.limit"], 300.0);
    }

    #[test]
    fn before_version_14_one_reading_has_to_do() {
        let readings = readings(&["4|0|6|97||2000", "3|0|7|97||2010"]);
        assert_eq!(readings[1]["database.occupancy"], 3.0);
    }

    #[test]
    fn late_answers_are_those_of_earlier_questions() {
        let mut command = Command::new("sh");
        // Answers nothing to the first question and both to the second.
        command.args([
            "-c",
            "read -r _; read -r _; read -r _; read -r _; echo first; echo 'weir-answered 1'; echo second; \
             echo 'weir-answered 2'; read -r _",
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut session = Session::start(command).expect("there is a shell");
        assert!(session.ask("SELECT 1;"));
        assert_eq!(session.answer(Instant::now()), None);
        assert!(session.ask("SELECT 2;"));
        let answer = session.answer(Instant::now() + Duration::from_secs(60));
        assert_eq!(answer.as_deref(), Some("second"));
        assert!(!session.is_lost());
    }

    #[test]
    fn a_name_with_a_quote_stays_a_name() {
        let client = PostgresqlClient {
            program: "psql".into(),
            environment: Vec::new(),
            connection: Vec::new(),
            database: "o'clock".to_owned(),
        };
        assert!(client.question().contains("datname = 'o''clock'"));
    }
}
