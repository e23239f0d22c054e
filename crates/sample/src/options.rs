//! The limits and places of one server, as typed on the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Most worker threads that can be asked for: a process has room for about 32,000
/// (`vm.max_map_count`).
pub(crate) const THREADS_MAX: u32 = 10_000;
/// Most database connections that can be asked for; each holds an open file.
pub(crate) const POOL_MAX: u32 = 1_000;
/// Most open connections that can be asked for, before the limit on open files cuts it down.
pub(crate) const CONNECTIONS_MAX: u32 = 1_000_000;

/// The built-in application server, with every limit of its funnel, outermost first.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Address that serves the application; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = Options::default().listen)]
    pub listen: SocketAddr,

    /// Address of the admin endpoint (/limits, /metrics), loopback only; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = Options::default().admin)]
    pub admin: SocketAddr,

    /// Stage `backlog`: connections that the kernel holds until they are accepted.
    ///
    /// The kernel cuts it down to net.core.somaxconn; /limits and /metrics show what is in force.
    #[arg(long, value_name = "CONNECTIONS", default_value_t = Options::default().backlog,
          value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub backlog: u32,

    /// Stage `connections`: connections open at a time, with or without a request.
    ///
    /// Cut down to what the limit on open files allows; /limits and /metrics show what is in
    /// force.
    #[arg(long, value_name = "CONNECTIONS", default_value_t = Options::default().max_connections,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub max_connections: u32,

    /// What happens to a new connection when as many are open as may be.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Options::default().when_full)]
    pub when_full: WhenFull,

    /// How long a connection may stay without a request, and how long reading one may take (60s,
    /// 500ms).
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub connection_timeout: Duration,

    /// Stage `threads`: worker threads, each runs one request at a time.
    #[arg(long, value_name = "THREADS", default_value_t = Options::default().threads,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(THREADS_MAX)))]
    pub threads: u32,

    /// Stage `pool.db`: database connections shared by the worker threads.
    #[arg(long, value_name = "CONNECTIONS", default_value_t = Options::default().pool,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(POOL_MAX)))]
    pub pool: u32,

    /// Rows of the table that /posts reads.
    #[arg(long, value_name = "ROWS", default_value_t = Options::default().rows,
          value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub rows: u32,

    /// Directory for the database and the files served, kept at exit [default: a temporary one,
    /// removed at exit].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9080)),
            admin: SocketAddr::from((Ipv4Addr::LOCALHOST, 9081)),
            backlog: 511,
            max_connections: 20_000,
            when_full: WhenFull::Wait,
            connection_timeout: Duration::from_secs(60),
            threads: 50,
            pool: 10,
            rows: 100_000,
            data: None,
        }
    }
}

/// What happens to a new connection when the connection limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WhenFull {
    /// Accept it and close it at once, as WebSphere does.
    Close,
    /// Leave it in the backlog until another one closes, as Tomcat does.
    Wait,
}

/// Reads a time such as `60s` or `500ms`; at least 1 ms and at most an hour.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_ms) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1_000),
        (None, None) => return Err("give a number with its unit, such as 60s or 500ms".to_owned()),
    };
    let milliseconds = number
        .trim()
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(unit_ms));
    match milliseconds {
        Some(ms @ 1..=3_600_000) => Ok(Duration::from_millis(ms)),
        _ => Err("give a whole number from 1ms to 3600s".to_owned()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let command =
            Options::augment_args(clap::Command::new("sample-server").no_binary_name(true));
        command
            .try_get_matches_from(arguments)
            .and_then(|matches| Options::from_arg_matches(&matches))
    }

    #[test]
    fn typed_defaults_are_the_defaults() {
        assert_eq!(
            format!("{:?}", parse(&[]).unwrap()),
            format!("{:?}", Options::default())
        );
    }

    #[test]
    fn each_flag_arrives() {
        let options = parse(&[
            "--listen=127.0.0.1:0",
            "--threads=29",
            "--pool=4",
            "--max-connections=40",
            "--when-full=close",
            "--backlog=7",
            "--connection-timeout=250ms",
            "--rows=2000",
            "--data=/nowhere",
        ]);
        let options = options.unwrap();
        assert_eq!(
            (
                options.threads,
                options.pool,
                options.max_connections,
                options.backlog
            ),
            (29, 4, 40, 7)
        );
        assert_eq!(
            (options.when_full, options.connection_timeout),
            (WhenFull::Close, Duration::from_millis(250))
        );
        assert_eq!(
            (options.rows, options.data),
            (2_000, Some(PathBuf::from("/nowhere")))
        );
    }

    #[test]
    fn limits_are_bounded() {
        for bad in [
            "--threads=0",
            "--threads=10001",
            "--pool=0",
            "--pool=1001",
            "--rows=999",
            "--backlog=0",
            "--max-connections=0",
            "--connection-timeout=60",
            "--connection-timeout=0s",
            "--connection-timeout=2h",
        ] {
            assert!(parse(&[bad]).is_err(), "{bad} was accepted");
        }
    }
}
