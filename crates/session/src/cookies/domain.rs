//! Which hosts a cookie's domain stands for.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The domains under which two parts were enough in 1994.
const SPECIAL: [&str; 7] = [".com", ".edu", ".net", ".gov", ".mil", ".org", ".int"];

/// Whether a host is the domain or in it; addresses are in no domain.
pub(super) fn is_in(host: &str, domain: &str) -> bool {
    if host.parse::<Ipv4Addr>().is_ok() || host.parse::<Ipv6Addr>().is_ok() {
        return false;
    }
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    match host.strip_suffix(domain) {
        Some("") => true,
        Some(rest) => rest.len() > 1 && rest.ends_with('.'),
        None => false,
    }
}

/// RFC 6265: only a domain that was given stands for more than its own host.
pub(super) fn matches(domain: &str, is_given: bool, host: &str) -> bool {
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    host == domain || (is_given && is_in(host, domain))
}

/// The draft of 1994, in which a server's domain needs two or three parts.
pub(super) fn is_allowed_by_draft(domain: &str, host: &str) -> bool {
    if host != domain && !is_in(host, domain) {
        return false;
    }
    let parts = domain.split('.').filter(|part| !part.is_empty()).count();
    let lower = domain.to_lowercase();
    let is_special = SPECIAL.iter().any(|special| lower.ends_with(special));
    !host.contains('.') || parts >= if is_special { 2 } else { 3 }
}

/// RFC 2109, in which a domain begins with a dot and reaches one level down.
pub(super) fn is_allowed_by_rfc2109(domain: &str, host: &str) -> bool {
    if host == domain {
        return true;
    }
    let Some(below) = domain.strip_prefix('.') else {
        return false;
    };
    let is_inner = below.find('.').is_some_and(|dot| dot + 1 < below.len());
    is_inner
        && host
            .strip_suffix(domain)
            .is_some_and(|rest| !rest.contains('.'))
}

/// RFC 2109, when sending.
pub(super) fn matches_rfc2109(domain: &str, host: &str) -> bool {
    host == domain || (domain.starts_with('.') && host.ends_with(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_in_domains() {
        assert!(is_in("a.example", "example") && is_in("a.example", ".a.example"));
        assert!(!is_in("aexample", "example") && !is_in("127.0.0.1", "0.0.1"));
        assert!(!is_in(".example", "example") && !is_in("::1", "1"));
    }

    #[test]
    fn the_draft_counts_parts() {
        assert!(is_allowed_by_draft("localhost", "localhost"));
        assert!(is_allowed_by_draft(".example.com", "a.example.com"));
        assert!(is_allowed_by_draft("127.0.0.1", "127.0.0.1"));
        assert!(!is_allowed_by_draft("a.local", "a.local"));
        assert!(!is_allowed_by_draft(".com", "a.com"));
    }

    #[test]
    fn rfc2109_reaches_one_level_down() {
        assert!(is_allowed_by_rfc2109(".example.com", "a.example.com"));
        assert!(!is_allowed_by_rfc2109(".example.com", "b.a.example.com"));
        assert!(!is_allowed_by_rfc2109("example.com", "a.example.com"));
        assert!(!is_allowed_by_rfc2109(".com.", "a.com."));
        assert!(matches_rfc2109(".example.com", "b.a.example.com"));
    }
}
