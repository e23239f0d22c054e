//! What clients and operators meet: addresses, TLS, time-outs, sizes of heads, the access log.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use weir_userfile::{Section, hint};

use super::quantity::{bytes, time};
use crate::settings::{Forwarded, ListenAddress, RequestLimits, Timeouts, UNIX};

const ADMIN_PORT: u16 = 8082;
const THREADS_MAX: u32 = 256;
const CONNECTIONS_MAX: u32 = 1_000_000;
const FORWARDED: [(&str, Forwarded); 3] = [
    ("replace", Forwarded::Replace),
    ("append", Forwarded::Append),
    ("off", Forwarded::Off),
];
/// Fields beyond this number are no request that anybody makes.
const HEADERS_MAX: u32 = 1_000;
/// A client that sends no more than a MB/s is no attack.
const MIN_RATE_MAX: u32 = 1_000_000;
const HOUR: Duration = Duration::from_secs(3600);
const MILLISECOND: Duration = Duration::from_millis(1);
/// A token that can be guessed is none.
const TOKEN_LENGTH_MIN: usize = 16;
/// The kernel has room for no more in the address of a socket, with a zero at its end.
const PATH_LENGTH_MAX: usize = 107;

/// Where operators connect, and what they have to show.
#[derive(Default)]
pub(super) struct Admin {
    pub(super) address: Option<ListenAddress>,
    pub(super) token: Option<String>,
    pub(super) read_token: Option<String>,
}

/// What of the file stands in front.
pub(super) struct Front {
    pub(super) listen: Option<Vec<ListenAddress>>,
    pub(super) admin: Admin,
    pub(super) threads: Option<u32>,
    pub(super) max_connections: Option<u32>,
    pub(super) access_log: Option<PathBuf>,
    pub(super) hand_over: Option<PathBuf>,
    pub(super) monitor: Option<String>,
    pub(super) watches_file: bool,
    pub(super) forwarded: Forwarded,
    pub(super) timeouts: Timeouts,
    pub(super) request: RequestLimits,
}

pub(super) fn read(root: &Section<'_>) -> Front {
    Front {
        listen: listen(root),
        admin: admin(root),
        threads: root
            .whole("threads", 1..=THREADS_MAX)
            .map(Spanned::into_inner),
        max_connections: root
            .whole("max-connections", 1..=CONNECTIONS_MAX)
            .map(Spanned::into_inner),
        access_log: root.text("access-log").map(|path| path.into_inner().into()),
        hand_over: root.text("hand-over").map(|path| path.into_inner().into()),
        monitor: monitor(root),
        watches_file: root.flag("watch").unwrap_or_default(),
        forwarded: forwarded(root),
        timeouts: timeouts(root),
        request: request(root),
    }
}

fn monitor(root: &Section<'_>) -> Option<String> {
    let path = root.text("monitor")?;
    let is_path = path.get_ref().starts_with('/') && !path.get_ref().contains(['?', '#', ' ']);
    if is_path {
        return Some(path.into_inner());
    }
    root.problems().add_with_help(
        path.span(),
        format!("`{}` is no path", path.get_ref()),
        "write `monitor = \"/gate-health\"`, without a query",
    );
    None
}

fn listen(root: &Section<'_>) -> Option<Vec<ListenAddress>> {
    let Some(value) = root.value("listen") else {
        root.missing("listen", "listen = \"127.0.0.1:8081\"");
        return None;
    };
    let texts = if value.get_ref().is_array() {
        root.texts("listen")?
    } else {
        vec![root.text("listen")?]
    };
    if texts.is_empty() {
        root.problems().add_with_help(
            value.span(),
            "`listen` is an empty list: nobody could connect",
            "write `listen = \"127.0.0.1:8081\"`",
        );
    }
    let addresses: Vec<ListenAddress> = texts
        .iter()
        .filter_map(|text| address(root, "listen", text))
        .collect();
    (!addresses.is_empty()).then_some(addresses)
}

fn address(root: &Section<'_>, key: &str, text: &Spanned<String>) -> Option<ListenAddress> {
    let typed = text.get_ref();
    if let Some(path) = typed.strip_prefix(UNIX) {
        return unix(root, text, path);
    }
    if let Ok(address) = typed.parse() {
        return Some(ListenAddress::Tcp(address));
    }
    let port = typed.rsplit(':').next().unwrap_or_default();
    let help = match port.parse::<u16>() {
        Ok(port) => format!(
            "write an address and a port: `127.0.0.1:{port}` for this machine, `0.0.0.0:{port}` for all its networks"
        ),
        Err(_) => format!("write an address and a port: `{key} = \"127.0.0.1:8081\"`"),
    };
    root.problems().add_with_help(
        text.span(),
        format!("`{typed}` is no address to listen on"),
        help,
    );
    None
}

fn unix(root: &Section<'_>, text: &Spanned<String>, path: &str) -> Option<ListenAddress> {
    let why = if path.starts_with('/') {
        let is_long = path.len() > PATH_LENGTH_MAX;
        is_long.then(|| format!("is longer than {PATH_LENGTH_MAX} bytes"))
    } else {
        Some("does not begin with /".to_owned())
    };
    let Some(why) = why else {
        return Some(ListenAddress::Unix(path.into()));
    };
    root.problems().add_with_help(
        text.span(),
        format!("the path of `{}` {why}", text.get_ref()),
        format!("write a whole path, such as `{UNIX}/run/weir-gate/gate.sock`"),
    );
    None
}

/// What a caller of the admin port shows.
fn token(root: &Section<'_>, key: &'static str) -> Option<String> {
    let token = root.text(key);
    if let Some(token) = &token
        && (token.get_ref().len() < TOKEN_LENGTH_MIN
            || !token.get_ref().bytes().all(|byte| byte.is_ascii_graphic()))
    {
        root.problems().add_with_help(
            token.span(),
            format!(
                "`{key}` needs {TOKEN_LENGTH_MIN} or more letters, digits and signs, without blanks"
            ),
            "make one with `openssl rand -hex 16`",
        );
    }
    token.map(Spanned::into_inner)
}

fn admin(root: &Section<'_>) -> Admin {
    let (token, read_token) = (token(root, "admin-token"), token(root, "admin-read-token"));
    if let (None, Some(_), Some(key)) = (&token, &read_token, root.value("admin-read-token")) {
        root.problems().add_with_help(
            key.span(),
            "`admin-read-token` without `admin-token`: nobody could change anything",
            "ask for a token of those who change limits, too: `admin-token = \"…\"`",
        );
    }
    Admin {
        address: admin_address(root, token.is_some()),
        token,
        read_token,
    }
}

fn admin_address(root: &Section<'_>, has_token: bool) -> Option<ListenAddress> {
    let Some(value) = root.value("admin") else {
        let default = SocketAddr::from(([127, 0, 0, 1], ADMIN_PORT));
        return Some(default.into());
    };
    if value.get_ref().as_bool() == Some(false) {
        return None;
    }
    let text = root.text("admin")?;
    let admin = address(root, "admin", &text);
    let tcp = admin.as_ref().and_then(ListenAddress::tcp);
    if tcp.is_some_and(|tcp| !tcp.ip().is_loopback()) && !has_token {
        root.problems().add_with_help(
            text.span(),
            format!(
                "`admin` is `{}`: whoever reaches it could change the limits",
                text.get_ref()
            ),
            "listen on 127.0.0.1 or on a path (`unix:/run/weir-gate/admin.sock`), or ask for a token: `admin-token = \"…\"` (make one with `openssl rand -hex 16`)",
        );
    }
    admin
}

fn forwarded(root: &Section<'_>) -> Forwarded {
    let Some(text) = root.text("forwarded") else {
        return Forwarded::default();
    };
    let known = FORWARDED.map(|(name, _)| name);
    let found = FORWARDED.iter().find(|(name, _)| name == text.get_ref());
    if found.is_none() {
        root.problems().add_with_help(
            text.span(),
            format!("`forwarded` is `{}`", text.get_ref()),
            hint(text.get_ref(), &known),
        );
    }
    found.map_or_else(Forwarded::default, |(_, forwarded)| *forwarded)
}

fn timeouts(root: &Section<'_>) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let Some(section) = root.section("timeouts", "[timeouts]") else {
        return timeouts;
    };
    for (key, field) in [
        ("head", &mut timeouts.head),
        ("idle", &mut timeouts.idle),
        ("body", &mut timeouts.body),
        ("connect", &mut timeouts.connect),
        ("response", &mut timeouts.response),
        ("backend-idle", &mut timeouts.backend_idle),
        ("upgraded", &mut timeouts.upgraded),
        ("drain", &mut timeouts.drain),
    ] {
        if let Some(time) = time(&section, key, MILLISECOND, HOUR) {
            *field = time;
        }
    }
    section.finish();
    timeouts
}

fn request(root: &Section<'_>) -> RequestLimits {
    let mut limits = RequestLimits::default();
    let Some(section) = root.section("request", "[request]") else {
        return limits;
    };
    // hyper reads heads into a buffer of 8 KiB at least, and takes no target beyond 64 KiB.
    if let Some(size) = bytes(&section, "max-head", 8 * 1024..=1024 * 1024) {
        limits.max_head = size;
    }
    if let Some(size) = bytes(&section, "max-heads", 1024 * 1024..=u32::MAX) {
        limits.max_heads = size;
    }
    if let Some(size) = bytes(&section, "max-uri", 1024..=63 * 1024) {
        limits.max_uri = size;
    }
    if let Some(count) = section.whole("max-headers", 10..=HEADERS_MAX) {
        limits.max_headers = count.into_inner();
    }
    if let Some(rate) = section.whole("min-rate", 0..=MIN_RATE_MAX) {
        limits.min_rate = rate.into_inner();
    }
    section.finish();
    limits
}
