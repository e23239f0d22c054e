//! What a gateway is told to do: the content of its file, with every default filled in.

mod address;
mod backend;
mod key;
mod proxies;
mod scale;
mod tls;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use http::header::HeaderName;
use weir_metric::{CpuSet, Requirement};

use crate::matching::Matcher;
pub use address::{ListenAddress, UNIX};
pub use backend::{BackendAddress, BackendSettings, BackendTls, ProxyVersion};
pub use key::{KeySettings, KeyedBy};
pub use proxies::TrustedProxies;
pub use scale::ScaleSettings;
pub use tls::{CertificateFiles, ClientAuth, TlsFiles};

/// Everything that the file says.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where clients connect.
    pub listen: Vec<ListenAddress>,
    /// The servers behind.
    pub backends: Vec<BackendSettings>,
    /// How those are spoken to that ask for TLS.
    pub backend_tls: BackendTls,
    /// Where metrics, status, the live page and live changes are; `None`: nowhere.
    pub admin: Option<ListenAddress>,
    /// What a caller of the admin port has to show.
    pub admin_token: Option<String>,
    /// What a caller has to show who may look at everything and change nothing.
    pub admin_read_token: Option<String>,
    /// Threads that forward; `None`: one for each CPU that the process may use.
    pub threads: Option<u32>,
    /// Client connections open at once; `None`: what the limit on open files leaves room for.
    pub max_connections: Option<u32>,
    /// File of the access log; `-` is standard output, `None` no log.
    pub access_log: Option<PathBuf>,
    /// What of requests is marked and written.
    pub log: LogSettings,
    /// The socket of the file system at which a successor gets this gateway's sockets; `None`: it
    /// gets none.
    pub hand_over: Option<PathBuf>,
    /// The path at which the gateway itself says whether it can do its work; `None`: nowhere.
    pub monitor: Option<String>,
    /// Whether the file is read again when it has changed.
    pub watches_file: bool,
    /// What backends are told about the client.
    pub forwarded: Forwarded,
    /// Proxies in front whose word about their clients counts.
    pub proxies: TrustedProxies,
    /// Certificates and keys; `None`: clients speak without TLS.
    pub tls: Option<TlsFiles>,
    /// What is held.
    pub limit: LimitSettings,
    /// Kinds of requests, the first match wins.
    pub classes: Vec<ClassSettings>,
    /// What each client may have.
    pub keys: Vec<KeySettings>,
    /// How long each phase of a request may last.
    pub timeouts: Timeouts,
    /// How large the head of a request may be, and how slow its client.
    pub request: RequestLimits,
    /// How backends are looked after.
    pub health: Health,
    /// How many there are to be; `None`: nobody reckons it.
    pub scale: Option<ScaleSettings>,
}

/// What of requests is marked and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The field that has the id of a request; `None`: it gets none.
    pub request_id: Option<HeaderName>,
    /// Whether it is part of a trace (W3C Trace Context).
    pub trace_context: bool,
    /// Of those that went well one in so many is written; of all others each.
    pub one_in: u32,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            request_id: None,
            trace_context: false,
            one_in: 1,
        }
    }
}

/// What backends are told about the client, in `Forwarded` and `X-Forwarded-*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forwarded {
    /// What this gateway has seen, and trusted proxies have told, in place of what the client
    /// claims.
    #[default]
    Replace,
    /// What this gateway has seen, after what the proxy in front of it claims.
    Append,
    /// Nothing; what the client claims passes.
    Off,
}

/// What is held, over all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitSettings {
    /// Admitted requests a second.
    pub rate_per_s: Option<f64>,
    /// Admitted requests that are not yet answered; fractions are time averages.
    pub concurrency: Option<f64>,
    /// The limit that the gateway finds by itself, in place of `concurrency`.
    pub adaptive: Option<AdaptiveSettings>,
    /// Longest wait of a request for its turn.
    pub max_wait: Duration,
    /// Most requests that wait; `None`: as many as `max_wait` allows.
    pub max_queue: Option<usize>,
    /// What backends do with a request that nobody waits for any more.
    pub abandoned_work: AbandonedWork,
    /// Places of their own for switched connections and streams of events; `None`: they keep their
    /// slots.
    pub long_lived: Option<u32>,
}

/// What backends do with a request that nobody waits for any more, and with it what becomes of its
/// slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AbandonedWork {
    /// It goes on, as in most servers: the slot stays taken until the backend has answered or
    /// closed.
    #[default]
    GoesOn,
    /// It stops: the slot is given back at once, and the connection to the backend is closed.
    Stops,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            rate_per_s: None,
            concurrency: None,
            adaptive: None,
            max_wait: Duration::from_millis(200),
            max_queue: None,
            abandoned_work: AbandonedWork::default(),
            long_lived: None,
        }
    }
}

/// A limit that the gateway finds by itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdaptiveSettings {
    /// How it is found.
    pub algorithm: Algorithm,
    /// What has to hold, such as `cpu <= 80 %`; `None`: the best throughput.
    pub goal: Option<Requirement>,
    /// The limit never goes below.
    pub min: Option<f64>,
    /// The limit never goes above.
    pub max: Option<f64>,
    /// The limit at first; `None`: 8, within the bounds.
    pub start: Option<f64>,
    /// The largest change at a time, as a share of the limit; `None`: as large as what is read
    /// asks for.
    pub step: Option<f64>,
    /// Where the backends' CPU is read; `None`: of the processes of this machine that listen on
    /// their ports.
    pub cpu_from: Option<CpuFrom>,
}

/// How a limit is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Weir's own, which alone has goals.
    #[default]
    Weir,
    /// Additive increase, multiplicative decrease.
    Aimd,
    /// TCP Vegas.
    Vegas,
    /// The ratio of long-term to present response time.
    Gradient2,
}

/// Where the backends' CPU is read.
#[derive(Debug, Clone, PartialEq)]
pub enum CpuFrom {
    /// Everything that runs on these CPUs of this machine.
    Cpus(CpuSet),
    /// A process of this machine and all that descend from it.
    Pid(u32),
    /// A control group of this machine.
    Cgroup(PathBuf),
    /// A page of metrics in Prometheus's text format.
    Prometheus {
        /// Where it is.
        url: String,
        /// How many CPUs the server may use, where the page does not tell.
        cpus: Option<f64>,
    },
}

/// A kind of requests.
#[derive(Debug, Clone)]
pub struct ClassSettings {
    /// Its name in logs, metrics and requirements.
    pub name: String,
    /// Which requests belong to it.
    pub matches: Matcher,
    /// What its clients are promised, such as `p99 <= 50 ms`.
    pub promise: Option<Requirement>,
    /// Its own cap on the rate.
    pub rate_per_s: Option<f64>,
    /// Its own cap on requests in flight.
    pub concurrency: Option<f64>,
    /// Whether it passes by all that is held: the health check of a balancer must not be rejected
    /// in overload.
    pub is_exempt: bool,
}

/// How long each phase of a request may last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a request's head to its last, and for the handshake of TLS.
    pub head: Duration,
    /// A connection of a client without a request.
    pub idle: Duration,
    /// Without a byte of the body: of a request, of a response, or of one that the client does not
    /// take.
    pub body: Duration,
    /// Connecting to a backend.
    pub connect: Duration,
    /// From forwarding a request to the head of its response.
    pub response: Duration,
    /// A connection to a backend without a request. Shorter than the backend's own, so that no
    /// request meets a connection that is just being closed: httpd and Node.js keep them 5 s.
    pub backend_idle: Duration,
    /// A connection of a client without a request, until it gives back its buffers. Its client
    /// notices nothing, and the file has no key for it.
    pub rest: Duration,
    /// Without a byte either way of a connection that has switched to another protocol.
    pub upgraded: Duration,
    /// For requests that run when the gateway is told to stop.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            body: Duration::from_secs(30),
            connect: Duration::from_secs(2),
            response: Duration::from_secs(60),
            backend_idle: Duration::from_secs(4),
            // A client that asks more often than that costs no more than without.
            rest: Duration::from_secs(1),
            // As long as Envoy's `stream_idle_timeout` by default: longer than the pings of
            // WebSocket libraries are apart.
            upgraded: Duration::from_secs(300),
            drain: Duration::from_secs(30),
        }
    }
}

/// How large the head of a request may be, and how slow its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLimits {
    /// Bytes of request line and fields together.
    pub max_head: u32,
    /// Bytes of all heads together that have begun and are not whole.
    pub max_heads: u32,
    /// Bytes of the request's target.
    pub max_uri: u32,
    /// Number of fields.
    pub max_headers: u32,
    /// Bytes a second that a client sends of a body, or takes of one, while it is waited for; 0:
    /// any will do.
    pub min_rate: u32,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            max_head: 16 * 1024,
            max_heads: 64 * 1024 * 1024,
            max_uri: 8 * 1024,
            max_headers: 100,
            // As Kestrel and IIS have it.
            min_rate: 240,
        }
    }
}

/// How backends are looked after.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// What is asked for; `None`: only whether it takes connections, and only after one failed.
    pub path: Option<String>,
    /// From one look to the next.
    pub every: Duration,
    /// Longest a look may take.
    pub timeout: Duration,
    /// Looks that fail in a row until a backend gets no more requests.
    pub down_after: u32,
    /// Looks that succeed in a row until it gets requests again.
    pub up_after: u32,
    /// Requests in a row that fail until a backend gets none for a while; `None`: it always does.
    pub eject_after: Option<u32>,
    /// The share of failures in a window, if it is twice that of the others, from which on a
    /// backend gets no requests for a while; `None`: it always does.
    pub eject_share: Option<f64>,
    /// How many times as long as the others it takes, for the same.
    pub eject_slower: Option<f64>,
    /// How long backends are watched before they are compared.
    pub eject_window: Duration,
    /// For how long the first time; each time in a row for so much longer.
    pub eject_for: Duration,
    /// How often the names of backends are looked up again; 0: never.
    pub resolve_every: Duration,
    /// From when a backend is back until it gets as many requests as the others; 0: at once.
    pub slow_start: Duration,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            path: None,
            every: Duration::from_secs(1),
            timeout: Duration::from_secs(1),
            down_after: 2,
            up_after: 2,
            // As Envoy's `consecutive_5xx`.
            eject_after: Some(5),
            eject_share: Some(0.5),
            eject_slower: None,
            // As Envoy's `interval`.
            eject_window: Duration::from_secs(10),
            eject_for: Duration::from_secs(10),
            resolve_every: Duration::from_secs(10),
            slow_start: Duration::ZERO,
        }
    }
}

impl Settings {
    /// A gateway on these addresses with every default and no limit.
    pub fn new(listen: ListenAddress, backends: Vec<BackendSettings>) -> Self {
        Self {
            listen: vec![listen],
            backends,
            backend_tls: BackendTls::default(),
            admin: Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).into()),
            admin_token: None,
            admin_read_token: None,
            threads: None,
            max_connections: None,
            access_log: None,
            log: LogSettings::default(),
            hand_over: None,
            monitor: None,
            watches_file: false,
            forwarded: Forwarded::default(),
            proxies: TrustedProxies::default(),
            tls: None,
            limit: LimitSettings::default(),
            classes: Vec::new(),
            keys: Vec::new(),
            timeouts: Timeouts::default(),
            request: RequestLimits::default(),
            health: Health::default(),
            scale: None,
        }
    }

    /// Names of the classes; what matches none of the file's belongs to the last one.
    pub fn class_names(&self) -> Vec<&str> {
        let named = self.classes.iter().map(|class| class.name.as_str());
        let all_taken = self
            .classes
            .last()
            .is_some_and(|class| class.matches.takes_everything());
        named.chain((!all_taken).then_some(OTHER_CLASS)).collect()
    }

    /// Whether nothing holds requests of a class.
    pub fn is_exempt(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|class| class.is_exempt)
    }

    /// Index of the class of a request; `is_as_costly` says of the index of a class whether the
    /// request's route costs what that class asks for.
    pub fn class_of(
        &self,
        request: &http::request::Parts,
        is_as_costly: impl Fn(usize) -> bool,
    ) -> usize {
        let mut classes = self.classes.iter().enumerate();
        let found = classes.find(|(index, class)| {
            let costs = class.matches.cost.is_none() || is_as_costly(*index);
            costs && class.matches.matches(request)
        });
        found.map_or(self.classes.len(), |(index, _)| index)
    }
}

/// The class of requests that match none.
pub const OTHER_CLASS: &str = "other";
