//! Proxies in front, and what they may say.

use std::net::IpAddr;

use http::header::HeaderName;
use ipnet::IpNet;
use toml::Spanned;
use weir_userfile::Section;

use crate::settings::{TrustedProxies, UNIX};

pub(super) fn read(root: &Section<'_>) -> TrustedProxies {
    let mut proxies = TrustedProxies::default();
    for text in root.texts("trusted-proxies").unwrap_or_default() {
        if text.get_ref() == UNIX {
            proxies.on_paths = true;
        } else {
            proxies.networks.extend(network(root, &text));
        }
    }
    if let Some(text) = root.text("client-header") {
        if let Ok(name) = text.get_ref().parse::<HeaderName>() {
            proxies.client_header = name;
        } else {
            root.problems().add_with_help(
                text.span(),
                format!("`{}` is no name of a header", text.get_ref()),
                "write the one that the proxies set: `client-header = \"X-Forwarded-For\"`",
            );
        }
    }
    proxies.proxy_protocol = root.flag("proxy-protocol").unwrap_or_default();
    let has_some = root.value("trusted-proxies").is_some();
    for key in ["client-header", "proxy-protocol"] {
        if let Some(value) = root.value(key).filter(|_| !has_some) {
            root.problems().add_with_help(
                value.span(),
                format!("`{key}` without `trusted-proxies`: anybody could pretend to be anybody"),
                "say where the proxies are: `trusted-proxies = [\"10.0.0.0/8\"]`",
            );
        }
    }
    proxies
}

/// A network, or one address.
fn network(root: &Section<'_>, text: &Spanned<String>) -> Option<IpNet> {
    let typed = text.get_ref();
    let network = typed.parse().ok();
    let network = network.or_else(|| Some(IpNet::from(typed.parse::<IpAddr>().ok()?)));
    if network.is_none() {
        root.problems().add_with_help(
            text.span(),
            format!("`{typed}` is no network"),
            format!(
                "write such as `10.0.0.0/8`, `192.0.2.7` or `2001:db8::/32`; `{UNIX}` for programs that come over a path"
            ),
        );
    }
    network
}
