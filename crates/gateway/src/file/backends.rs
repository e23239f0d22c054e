//! The servers behind, and how they are looked after.

use std::time::Duration;

use http::Uri;
use toml::Spanned;
use weir_userfile::Section;

use super::quantity::time;
use crate::settings::{BackendAddress, Health};

pub(super) fn read(root: &Section<'_>) -> Option<Vec<BackendAddress>> {
    const EXAMPLE: &str = "backends = [\"http://127.0.0.1:8080\"]";
    if root.value("backends").is_none() {
        root.missing("backends", EXAMPLE);
        return None;
    }
    let (span, list) = root.list("backends")?;
    if list.is_empty() {
        root.problems().add_with_help(
            span,
            "`backends` is an empty list: there is nobody to forward to",
            format!("write `{EXAMPLE}`"),
        );
    }
    let texts = root.texts("backends")?;
    let mut backends: Vec<BackendAddress> = Vec::new();
    for text in &texts {
        match backend(text.get_ref()) {
            Ok(backend) if backends.contains(&backend) => root.problems().add_with_help(
                text.span(),
                format!("`{backend}` stands in the list twice"),
                "leave one of them out",
            ),
            Ok(backend) => backends.push(backend),
            Err((says, help)) => root.problems().add_with_help(text.span(), says, help),
        }
    }
    Some(backends)
}

/// A backend as it is typed; else what is wrong, and what to write.
fn backend(typed: &str) -> Result<BackendAddress, (String, String)> {
    let example = || "write `http://HOST:PORT`, such as `http://127.0.0.1:8080`".to_owned();
    let uri: Uri = typed
        .parse()
        .map_err(|_| (format!("`{typed}` is no URL"), example()))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => {
            return Err((
                format!("`{typed}`: Weir speaks to backends without TLS only"),
                "let the gateway stand on the backend's machine or network, and write `http://…`"
                    .to_owned(),
            ));
        }
        _ => return Err((format!("`{typed}` does not begin with http://"), example())),
    }
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
    let port = authority.port_u16().unwrap_or(80);
    if port == 0 {
        return Err((format!("`{typed}`: no server has the port 0"), example()));
    }
    Ok(BackendAddress {
        host: bare.unwrap_or(host).to_owned(),
        port,
    })
}

pub(super) fn health(root: &Section<'_>) -> Health {
    let mut health = Health::default();
    let Some(section) = root.section("health", "[health]") else {
        return health;
    };
    if let Some(path) = section.text("path") {
        health.path = checked_path(&section, path);
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
    if let Some(length) = time(&section, "eject-for", least, most) {
        health.eject_for = length;
    }
    section.finish();
    health
}

fn checked_path(section: &Section<'_>, path: Spanned<String>) -> Option<String> {
    let typed = path.get_ref();
    let uri: Option<Uri> = typed.parse().ok();
    if typed.starts_with('/') && uri.is_some() {
        return Some(path.into_inner());
    }
    section.problems().add_with_help(
        path.span(),
        format!("`path` is `{typed}`: it has to begin with / and to be a path of a URL"),
        "write `path = \"/health\"`",
    );
    None
}
