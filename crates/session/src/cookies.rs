//! A user's cookies.

mod dialect;
mod domain;
mod format;
mod read;

use dialect::Dialect;
use weir_plan::CookiePolicy;

use crate::origin::Origin;

/// The most cookies that servers can make a user keep; the oldest goes when another comes. Browsers
/// keep about 3,000 in all and 180 of a site.
const RECEIVED_MAX: usize = 3_000;

/// What a store does with what it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CookieRules {
    /// How cookies are read and sent.
    pub policy: CookiePolicy,
    /// Cookies that the server may not set for its host are not kept
    /// (`CookieManager.check.cookies`).
    pub checks: bool,
    /// Cookies without a value are not kept (`CookieManager.delete_null_cookies`).
    pub drops_empty: bool,
}

impl Default for CookieRules {
    fn default() -> Self {
        Self {
            policy: CookiePolicy::default(),
            checks: true,
            drops_empty: true,
        }
    }
}

/// A cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host that set it, or the domain that the server gave.
    pub domain: String,
    /// The folder of the page that set it, or the path that the server gave.
    pub path: String,
    /// Sent over TLS only.
    pub is_secure: bool,
    /// The server, or whoever wrote the plan, gave the domain.
    pub gives_domain: bool,
    /// The server, or whoever wrote the plan, gave the path.
    pub gives_path: bool,
    /// 0 for cookies as everybody writes them; 1 in the plan, unless it says otherwise.
    pub version: i32,
}

impl Cookie {
    fn replaces(&self, other: &Self) -> bool {
        self.name == other.name && self.path == other.path && self.domain == other.domain
    }
}

/// The cookies of one user under one Cookie Manager.
///
/// As in JMeter, what has come stays until it is replaced or the store is cleared: the end of a
/// cookie's life is looked at only when it is set.
#[derive(Debug, Clone)]
pub struct CookieStore {
    rules: CookieRules,
    held: Vec<Held>,
}

#[derive(Debug, Clone)]
struct Held {
    cookie: Cookie,
    /// Which cookie of the plan it is.
    of_plan: Option<usize>,
}

impl CookieStore {
    /// A store without cookies.
    pub fn new(rules: CookieRules) -> Self {
        Self {
            rules,
            held: Vec::new(),
        }
    }

    /// Forgets everything and takes the cookies of the plan.
    pub fn reset(&mut self, of_plan: impl IntoIterator<Item = Cookie>) {
        let held = of_plan.into_iter().enumerate();
        self.held = held
            .map(|(place, cookie)| Held {
                cookie,
                of_plan: Some(place),
            })
            .collect();
    }

    /// Renews the cookies of the plan that are still there, each with its place in the plan: their
    /// texts may change from request to request.
    pub fn renew(&mut self, mut renew: impl FnMut(usize, &mut Cookie)) {
        for held in &mut self.held {
            if let Some(place) = held.of_plan {
                renew(place, &mut held.cookie);
            }
        }
    }

    /// Takes the value of a `Set-Cookie` header; tells of the cookies that it keeps.
    pub fn receive(
        &mut self,
        from: &Origin<'_>,
        set_cookie: &str,
        now_ms: i64,
        mut kept: impl FnMut(&Cookie),
    ) {
        let host = Host::of(from);
        for (received, dialect) in read::cookies(self.rules.policy, set_cookie, &host, now_ms) {
            let cookie = received.cookie;
            if self.rules.checks && !dialect.is_allowed(&cookie, &host) {
                continue;
            }
            // JMeter takes the first millisecond of 1970 for "no end", although servers use it to
            // take cookies back.
            let end_ms = received.end_ms.unwrap_or(0);
            self.held.retain(|held| !cookie.replaces(&held.cookie));
            let is_over = end_ms != 0 && end_ms < now_ms;
            if is_over || (self.rules.drops_empty && cookie.value.is_empty()) {
                continue;
            }
            kept(&cookie);
            self.keep(cookie);
        }
    }

    fn keep(&mut self, cookie: Cookie) {
        let received = self.held.iter().filter(|held| held.of_plan.is_none());
        if received.count() >= RECEIVED_MAX
            && let Some(oldest) = self.held.iter().position(|held| held.of_plan.is_none())
        {
            self.held.remove(oldest);
        }
        self.held.push(Held {
            cookie,
            of_plan: None,
        });
    }

    /// All cookies in their order.
    pub fn all(&self) -> impl Iterator<Item = &Cookie> {
        self.held.iter().map(|held| &held.cookie)
    }

    /// Replaces all cookies. Each may say which of those before it was; one of the plan's that has
    /// stayed as it was is still one of the plan's.
    pub fn replace(&mut self, cookies: impl IntoIterator<Item = (Cookie, Option<usize>)>) {
        let before = std::mem::take(&mut self.held);
        for (cookie, known) in cookies {
            let was = known.and_then(|known| before.get(known));
            match was.filter(|was| was.of_plan.is_some() && was.cookie == cookie) {
                Some(was) => self.held.push(was.clone()),
                None => self.keep(cookie),
            }
        }
    }

    /// The value of the `Cookie` header for a request; none if no cookie is for it.
    pub fn header(&self, to: &Origin<'_>) -> Option<String> {
        let host = Host::of(to);
        let cookies = self.held.iter().map(|held| &held.cookie);
        let matching = |cookie: &&Cookie| {
            let dialect = Dialect::of(self.rules.policy, cookie.version);
            dialect.is_some_and(|dialect| dialect.is_for(cookie, &host))
        };
        let matching: Vec<&Cookie> = cookies.filter(matching).collect();
        if matching.is_empty() {
            return None;
        }
        Some(format::header(self.rules.policy, &matching))
    }

    /// Whether the store holds nothing.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// Where a cookie comes from or goes to, as cookies see it.
struct Host<'a> {
    /// In lower case.
    name: String,
    path: &'a str,
    is_secure: bool,
}

impl<'a> Host<'a> {
    fn of(origin: &Origin<'a>) -> Self {
        Self {
            name: origin.host.to_lowercase(),
            path: if origin.path.is_empty() {
                "/"
            } else {
                origin.path
            },
            is_secure: origin.is_secure(),
        }
    }

    /// The folder of the path, which a cookie gets that has none.
    fn folder(&self) -> &'a str {
        match self.path.rfind('/') {
            Some(0) => "/",
            Some(slash) => &self.path[..slash],
            None => self.path,
        }
    }
}

#[cfg(test)]
mod tests;
