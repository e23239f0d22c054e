//! Which rules a client keeps to with cookies.

/// How cookies are read, believed and sent: the policies of JMeter's Cookie Manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CookiePolicy {
    /// `standard`: RFC 6265 with everything that it tolerates.
    #[default]
    Standard,
    /// `standard-strict`: RFC 6265 as servers should write.
    StandardStrict,
    /// `netscape`: the draft of 1994.
    Netscape,
    /// `default`, `best-match` and `compatibility`: [`Self::Netscape`] or [`Self::Rfc2109`] by what
    /// the cookie looks like.
    AsItComes,
    /// `rfc2109`, with `$Version` and its kin.
    Rfc2109,
    /// `ignoreCookies`: none are kept and none are sent.
    Ignore,
}

impl CookiePolicy {
    /// The policy of this name in any case; nothing for names that JMeter does not know, and for
    /// `rfc2965`, whose ports and `Set-Cookie2` no server of today sends.
    pub fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, CookiePolicy); 9] = [
            ("", CookiePolicy::Standard),
            ("standard", CookiePolicy::Standard),
            ("standard-strict", CookiePolicy::StandardStrict),
            ("netscape", CookiePolicy::Netscape),
            ("default", CookiePolicy::AsItComes),
            ("best-match", CookiePolicy::AsItComes),
            ("compatibility", CookiePolicy::AsItComes),
            ("rfc2109", CookiePolicy::Rfc2109),
            ("ignoreCookies", CookiePolicy::Ignore),
        ];
        let mut names = NAMES.iter();
        let found = names.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, policy)| *policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case() {
        assert_eq!(
            CookiePolicy::named("Best-Match"),
            Some(CookiePolicy::AsItComes)
        );
        assert_eq!(CookiePolicy::named(""), Some(CookiePolicy::Standard));
        assert_eq!(CookiePolicy::named("rfc2965"), None);
    }
}
