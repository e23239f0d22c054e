//! The flow-control gateway: it stands in front of any HTTP server and holds the flow.
//!
//! A reverse proxy that decides for each request whether it goes on at once, waits for its turn, or
//! is rejected:
//!
//! ```text
//! accept → parse → vet → classify → admit / queue / reject → forward → pass the answer back
//! ```
//!
//! Why not something existing: none of the usual proxies has a cap on the rate with a bounded wait,
//! a queue that can be seen, or a limit that moves by itself. The protocols are hyper's;
//! connections to backends are kept by a list of our own, because hyper-util's client costs a tenth
//! more CPU a request.
//!
//! [`Settings::parse`] reads the file, [`Gateway`] runs it, [`Status`] says how it stands:
//!
//! ```
//! use weir_gateway::{Gateway, Settings};
//!
//! let settings = Settings::parse(
//!     r#"
//!     listen = "127.0.0.1:0"
//!     backends = ["http://127.0.0.1:9"]
//!     admin = "127.0.0.1:0"
//!     threads = 1
//!     [limit]
//!     rate = "50/s"
//!     "#,
//! )
//! .expect("nothing is wrong with it");
//! let gateway = Gateway::start(settings, String::new())?;
//! assert_ne!(gateway.addresses().listen[0].to_string(), "127.0.0.1:0");
//! assert!(gateway.drain().has_ended());
//! # Ok::<(), weir_gateway::GatewayError>(())
//! ```
//!
//! Invariants: a request that is not admitted costs a backend nothing; an admitted one gives its
//! slot back once, whatever becomes of it; what two servers could understand in two ways is passed
//! on in none; the admin side runs on a thread of its own, and its crash stops no traffic;
//! everything that waits is bounded in number and in time. Deliberately absent: any algorithm of a
//! limit, which are `weir-limit`'s, and any page, which are the report's.

mod access_log;
mod admin;
mod again;
mod alone;
mod backend;
mod backend_tls;
mod body;
mod certificate;
mod client;
mod connection;
mod control;
mod cpu;
mod dial;
mod ejection;
mod ending;
mod error;
mod figures;
mod file;
mod fitting;
mod flow;
mod forwarded;
#[cfg(test)]
mod fuzz;
mod gate_file;
mod gatehouse;
mod gateway;
mod gathered;
mod hand_over;
mod heads;
mod health;
mod hop;
mod keys;
mod leaving;
mod listening;
mod live;
mod long_lived;
mod malformed;
mod marks;
mod matching;
mod names;
mod open_files;
mod outliers;
mod pace;
mod patience;
mod proxy;
mod proxy_protocol;
mod refuse;
mod routes;
mod rules;
mod scale;
mod sending;
mod settings;
mod socket;
mod status;
mod stream;
mod thread;
mod tls;
mod upgrade;
mod vet;
mod watched;

pub use error::GatewayError;
pub use file::GATE_SCHEMA;
pub use gate_file::{Changed, FileError, GateFile, Keep, Lasting, Mistake, Reload};
pub use gateway::{Addresses, Gateway};
pub use matching::{Matcher, Named};
pub use settings::{
    AbandonedWork, AdaptiveSettings, Algorithm, BackendAddress, BackendSettings, BackendTls,
    CertificateFiles, ClassSettings, ClientAuth, CpuFrom, Forwarded, Health, KeySettings, KeyedBy,
    LimitSettings, ListenAddress, LogSettings, OTHER_CLASS, ProxyVersion, RequestLimits,
    ScaleSettings, Settings, Timeouts, TlsFiles, TrustedProxies, UNIX,
};
pub use status::{
    BackendStatus, ClassStatus, ClassTimes, ConnectionStatus, CpuStatus, KeyRefused, KeyStatus,
    LearntStatus, LongLivedStatus, Refused, RouteStatus, RoutesStatus, STATUS_SCHEMA, ScaleStatus,
    Standing, Status, TimesStatus,
};
pub use weir_userfile::Problem;
