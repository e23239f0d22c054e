//! Cookie, Cache, Authorization and DNS Cache Managers.

use weir_plan::{
    AuthManager, AuthMechanism, Authorization, CacheManager, CookieManager, DnsCache, StaticCookie,
};

use crate::element::Element;

pub(crate) fn cookies(element: &Element<'_>) -> CookieManager {
    let cookies = element.collection("CookieManager.cookies");
    CookieManager {
        id: element.id(),
        cookies: cookies.iter().map(cookie).collect(),
        clear_each_iteration: element.is("CookieManager.clearEachIteration"),
        controlled_by_group: element.is("CookieManager.controlledByThreadGroup"),
        policy: element.text_or_empty("CookieManager.policy"),
        at: element.at(),
    }
}

/// A cookie's name is the name of its element, which is an attribute or a property.
fn cookie(element: &Element<'_>) -> StaticCookie {
    let mut name = element.name_template();
    if name.text.is_empty() {
        name = element.text_or("TestElement.name", element.attribute("name"));
    }
    StaticCookie {
        name,
        value: element.text_or_empty("Cookie.value"),
        domain: element.text_or_empty("Cookie.domain"),
        path: element.text_or_empty("Cookie.path"),
        secure: element.is("Cookie.secure"),
        gives_domain: element.is("Cookie.domain_specified"),
        gives_path: element.is("Cookie.path_specified"),
        version: element.number("Cookie.version").unwrap_or(1),
    }
}

pub(crate) fn cache(element: &Element<'_>) -> CacheManager {
    CacheManager {
        id: element.id(),
        use_expires: element.is("useExpires"),
        clear_each_iteration: element.is("clearEachIteration"),
        controlled_by_group: element.is("CacheManager.controlledByThread"),
        max_entries: element.text_or("maxSize", "5000"),
    }
}

/// An Authorization Manager, and the entries that ask for a mechanism that is not there.
pub(crate) fn auth<'a>(element: &Element<'a>) -> (AuthManager, Vec<Element<'a>>) {
    let mut entries = Vec::new();
    let mut refused = Vec::new();
    for entry in element.collection("AuthManager.auth_list") {
        match mechanism(&entry) {
            Some(mechanism) => entries.push(Authorization {
                base_url: entry.text_or_empty("Authorization.url"),
                user: entry.text_or_empty("Authorization.username"),
                password: entry.text_or_empty("Authorization.password"),
                domain: entry.text_or_empty("Authorization.domain"),
                realm: entry.text_or_empty("Authorization.realm"),
                mechanism,
            }),
            None => refused.push(entry),
        }
    }
    let manager = AuthManager {
        id: element.id(),
        entries,
        clear_each_iteration: element.is("AuthManager.clearEachIteration"),
        controlled_by_group: element.is("AuthManager.controlledByThreadGroup"),
    };
    (manager, refused)
}

/// JMeter takes `BASIC` when nothing stands there.
fn mechanism(entry: &Element<'_>) -> Option<AuthMechanism> {
    match &*entry.text_or_empty("Authorization.mechanism").text {
        "" | "BASIC" => Some(AuthMechanism::Basic),
        "DIGEST" => Some(AuthMechanism::Digest),
        "BASIC_DIGEST" => Some(AuthMechanism::AsAsked),
        _ => None,
    }
}

pub(crate) fn dns(element: &Element<'_>) -> DnsCache {
    let hosts = element.collection("DNSCacheManager.hosts");
    DnsCache {
        id: element.id(),
        hosts: hosts
            .iter()
            .map(|host| {
                (
                    host.text_or_empty("StaticHost.Name"),
                    host.text_or_empty("StaticHost.Address"),
                )
            })
            .collect(),
        clear_each_iteration: element.is("DNSCacheManager.clearEachIteration"),
    }
}

/// Whether a DNS Cache Manager asks name servers of its own.
pub(crate) fn has_name_servers(element: &Element<'_>) -> bool {
    element.is("DNSCacheManager.isCustomResolver")
        && !element.texts("DNSCacheManager.servers").is_empty()
}
