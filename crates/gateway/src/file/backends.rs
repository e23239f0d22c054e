//! The servers behind, and how they are looked after.

use std::ops::Range;
use std::time::Duration;

use http::Uri;
use toml::Spanned;
use toml::de::DeValue;
use weir_metric::parse_share;
use weir_userfile::{Section, number};

use super::quantity::time;
use super::tls::certificate;
use crate::settings::{BackendAddress, BackendSettings, BackendTls, Health, ProxyVersion, UNIX};

/// More than a hundred of one for each of another is another cluster.
const WEIGHT_MAX: u32 = 100;
/// Less is what backends differ by anyway.
const SLOWER_MIN: f64 = 1.5;
const SLOWER_MAX: f64 = 1000.0;

pub(super) fn read(root: &Section<'_>) -> Option<Vec<BackendSettings>> {
    const EXAMPLE: &str = "backends = [\"http://127.0.0.1:8080\"]";
    if root.value("backends").is_none() {
        root.missing("backends", EXAMPLE);
        return None;
    }
    let (span, list) = root.list("backends")?;
    if list.is_empty() {
        root.problems().add_with_help(
            span.clone(),
            "`backends` is an empty list: there is nobody to forward to",
            format!("write `{EXAMPLE}`"),
        );
    }
    let mut backends: Vec<BackendSettings> = Vec::new();
    for one in list {
        let Some(backend) = one_of(root, one) else {
            continue;
        };
        let address = &backend.address;
        if backends.iter().any(|other| other.address == *address) {
            root.problems().add_with_help(
                one.span(),
                format!("`{address}` stands in the list twice"),
                "leave one of them out; `weight` says how many requests it gets",
            );
        }
        backends.push(backend);
    }
    if !backends.is_empty() && backends.iter().all(|backend| backend.is_backup) {
        root.problems().add_with_help(
            span,
            "every backend is a backup, and of none",
            "leave `backup` out of at least one",
        );
    }
    Some(backends)
}

/// An address, or a table with one.
fn one_of(root: &Section<'_>, one: &Spanned<DeValue<'_>>) -> Option<BackendSettings> {
    if let Some(text) = one.get_ref().as_str() {
        let address = noted(root, one.span(), text)?;
        return Some(BackendSettings::new(address));
    }
    let section = root.section_of("backends", one)?;
    if section.value("url").is_none() {
        section.missing("url", "url = \"http://127.0.0.1:8080\"");
    }
    let url = section.text("url");
    let weight = section.whole("weight", 1..=WEIGHT_MAX);
    let is_backup = section.flag("backup").unwrap_or_default();
    let path = section.text("health-path");
    let health_path = path.and_then(|path| checked_path(&section, "health-path", path));
    let is_http2 = section.flag("http2").unwrap_or_default();
    let proxy_protocol = proxy_protocol(&section);
    if let Some(key) = section
        .value("http2")
        .filter(|_| is_http2 && proxy_protocol.is_some())
    {
        section.problems().add_with_help(
            key.span(),
            "with `http2` a connection is everybody's, and with `proxy-protocol` one client's",
            "leave one of them out; `Forwarded` says for whom each request is",
        );
    }
    section.finish();
    let url = url?;
    Some(BackendSettings {
        weight: weight.map_or(1, Spanned::into_inner),
        is_backup,
        health_path,
        is_http2,
        proxy_protocol,
        ..BackendSettings::new(noted(root, url.span(), url.get_ref())?)
    })
}

fn proxy_protocol(section: &Section<'_>) -> Option<ProxyVersion> {
    let version = section.whole("proxy-protocol", 1..=2)?;
    Some(match version.into_inner() {
        1 => ProxyVersion::One,
        _ => ProxyVersion::Two,
    })
}

/// TLS towards backends.
pub(super) fn tls(root: &Section<'_>) -> BackendTls {
    let mut tls = BackendTls::default();
    let Some(section) = root.section("backend-tls", "[backend-tls]") else {
        return tls;
    };
    tls.ca = section.text("ca").map(|path| path.into_inner().into());
    if section.value("cert").is_some() || section.value("key").is_some() {
        tls.certificate = certificate(&section);
    }
    tls.server_name = section.text("server-name").map(Spanned::into_inner);
    tls.takes_any = section.flag("verify") == Some(false);
    if let Some(ca) = section.value("ca").filter(|_| tls.takes_any) {
        section.problems().add_with_help(
            ca.span(),
            "`ca` says whose certificates are good, and `verify = false` that all are",
            "leave one of them out",
        );
    }
    section.finish();
    tls
}

/// A backend as it is typed; what is wrong with it is noted.
fn noted(root: &Section<'_>, span: Range<usize>, typed: &str) -> Option<BackendAddress> {
    match backend(typed) {
        Ok(backend) => Some(backend),
        Err((says, help)) => {
            root.problems().add_with_help(span, says, help);
            None
        }
    }
}

/// A backend as it is typed; else what is wrong, and what to write.
fn backend(typed: &str) -> Result<BackendAddress, (String, String)> {
    let example = || "write `http://HOST:PORT`, such as `http://127.0.0.1:8080`".to_owned();
    if let Some(path) = typed.strip_prefix(UNIX) {
        if path.starts_with('/') {
            return Ok(BackendAddress::Unix(path.into()));
        }
        let says = format!("the path of `{typed}` does not begin with /");
        return Err((
            says,
            format!("write a whole path, such as `{UNIX}/run/app.sock`"),
        ));
    }
    let uri: Uri = typed
        .parse()
        .map_err(|_| (format!("`{typed}` is no URL"), example()))?;
    let is_secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => {
            let says = format!("`{typed}` does not begin with http:// or https://");
            return Err((says, example()));
        }
    };
    let has_path = !matches!(uri.path(), "" | "/") || uri.query().is_some();
    if has_path {
        return Err((
            format!("`{typed}` has a path: paths pass through as the client wrote them"),
            "leave the path out".to_owned(),
        ));
    }
    let authority = uri
        .authority()
        .filter(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
    let Some(authority) = authority else {
        return Err((format!("`{typed}` names no host"), example()));
    };
    let host = authority.host();
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let usual = if is_secure { 443 } else { 80 };
    let port = authority.port_u16().unwrap_or(usual);
    if port == 0 {
        return Err((format!("`{typed}`: no server has the port 0"), example()));
    }
    Ok(BackendAddress::Tcp {
        host: bare.unwrap_or(host).to_owned(),
        port,
        is_secure,
    })
}

pub(super) fn health(root: &Section<'_>) -> Health {
    let mut health = Health::default();
    let Some(section) = root.section("health", "[health]") else {
        return health;
    };
    if let Some(path) = section.text("path") {
        health.path = checked_path(&section, "path", path);
    }
    let (least, most) = (Duration::from_millis(10), Duration::from_secs(600));
    if let Some(every) = time(&section, "every", least, most) {
        health.every = every;
    }
    if let Some(timeout) = time(&section, "timeout", least, most) {
        health.timeout = timeout;
    }
    for (key, field) in [
        ("down-after", &mut health.down_after),
        ("up-after", &mut health.up_after),
    ] {
        if let Some(count) = section.whole(key, 1..=100) {
            *field = count.into_inner();
        }
    }
    if let Some(count) = section.whole("eject-after", 0..=1000) {
        let count = count.into_inner();
        health.eject_after = (count > 0).then_some(count);
    }
    if let Some(share) = eject_share(&section) {
        health.eject_share = (share < 1.0).then_some(share);
    }
    health.eject_slower = eject_slower(&section);
    if let Some(window) = time(&section, "eject-window", Duration::from_millis(100), most) {
        health.eject_window = window;
    }
    if let Some(length) = time(&section, "eject-for", least, most) {
        health.eject_for = length;
    }
    if let Some(every) = time(&section, "resolve-every", Duration::ZERO, most) {
        health.resolve_every = every;
    }
    if let Some(length) = time(&section, "slow-start", Duration::ZERO, most) {
        health.slow_start = length;
    }
    section.finish();
    health
}

/// From which share of failures on a backend is ejected; all of them: never.
fn eject_share(section: &Section<'_>) -> Option<f64> {
    let share = section.parsed("eject-share", parse_share)?;
    if *share.get_ref() > 0.0 && *share.get_ref() <= 1.0 {
        return Some(share.into_inner());
    }
    section.problems().add_with_help(
        share.span(),
        "`eject-share` is a share of the requests above 0 %",
        "write `eject-share = \"50 %\"`, or 100 % for never",
    );
    None
}

/// How many times as slow as the others a backend is that is ejected.
fn eject_slower(section: &Section<'_>) -> Option<f64> {
    let value = section.value("eject-slower")?;
    let times = number(value.get_ref());
    let times = times.filter(|times| (SLOWER_MIN..=SLOWER_MAX).contains(times));
    if times.is_none() {
        section.problems().add_with_help(
            value.span(),
            format!("`eject-slower` is no number from {SLOWER_MIN} to {SLOWER_MAX}"),
            "write how many times as slow as the others is too slow: `eject-slower = 3`",
        );
    }
    times
}

fn checked_path(section: &Section<'_>, key: &str, path: Spanned<String>) -> Option<String> {
    let typed = path.get_ref();
    let uri: Option<Uri> = typed.parse().ok();
    if typed.starts_with('/') && uri.is_some() {
        return Some(path.into_inner());
    }
    section.problems().add_with_help(
        path.span(),
        format!("`{key}` is `{typed}`: it has to begin with / and to be a path of a URL"),
        format!("write `{key} = \"/health\"`"),
    );
    None
}
