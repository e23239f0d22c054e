//! What a user remembers between its requests, and what that does to them: cookies, kept answers
//! and logins.
//!
//! A user has a session only if its plan has a manager. A sample goes through it like this:
//! [`Session::begin_sample`] renders what may differ from sample to sample; [`Session::dress`] adds
//! fields to a request, or says that it need not be sent; [`Session::is_asked_again`] looks at an
//! answer and changes the request when the server wants a proof; [`Session::answered`] remembers
//! what the last answer says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use weir_plan::{CookieManager, CookiePolicy, HttpRequest, StaticCookie};
use weir_script::{CookieView, FieldsAt, ResolvedPlan, Scope, SentRequest, Text};
use weir_session::{
    Answer, Cache, Cookie, CookieRules, CookieStore, Credentials, Login, Origin, Proof, Signed,
    login_for,
};

/// A user's session, which all requests of a sample share.
pub(crate) type SharedSession = Rc<RefCell<Session>>;

/// One user's memory: a place for each manager of the plan, filled when it is first used.
#[derive(Debug)]
pub(crate) struct Session {
    cookies: Vec<Option<CookieStore>>,
    caches: Vec<Option<Cache>>,
    logins: Vec<Option<Vec<Login>>>,
    /// What has been used to get in, by the servers' URLs.
    credentials: HashMap<String, Credentials>,
    /// Cookies that become variables.
    saved: Vec<(String, String)>,
    random: SplitMix64,
    /// Which iteration of the group it was last used in.
    iteration: u64,
}

/// Whether the session has to do with a request.
pub(crate) fn is_managed(request: &HttpRequest<Text>) -> bool {
    request.cookies.is_some() || request.cache.is_some() || request.auth.is_some()
}

/// A request on its way, through all that belongs to it.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    proof: Option<Proof>,
    /// The fields that go along when the request is redirected out of sight.
    fields: Vec<(&'static str, String)>,
}

impl Session {
    /// The session of a user who has not sent anything.
    pub(crate) fn of(plan: &ResolvedPlan, scope: &mut Scope) -> Self {
        Self {
            cookies: vec![None; plan.cookie_managers.len()],
            caches: vec![None; plan.cache_managers.len()],
            logins: vec![None; plan.auth_managers.len()],
            credentials: HashMap::new(),
            saved: Vec::new(),
            random: SplitMix64::seed_from_u64(scope.random.next_u64()),
            iteration: 0,
        }
    }

    /// Forgets what an iteration of the group forgets, when it is another one than before.
    pub(crate) fn in_iteration(&mut self, iteration: u64, plan: &ResolvedPlan, same_user: bool) {
        if iteration == self.iteration {
            return;
        }
        self.iteration = iteration;
        let forgets = |by_group: bool, each_time: bool| {
            if by_group { !same_user } else { each_time }
        };
        for (store, manager) in self.cookies.iter_mut().zip(&plan.cookie_managers) {
            if forgets(manager.controlled_by_group, manager.clear_each_iteration) {
                *store = None;
            }
        }
        for (cache, manager) in self.caches.iter_mut().zip(&plan.cache_managers) {
            if forgets(manager.controlled_by_group, manager.clear_each_iteration) {
                *cache = None;
            }
        }
    }

    /// Renders what the managers of a request say.
    pub(crate) fn begin_sample(
        &mut self,
        plan: &ResolvedPlan,
        request: &HttpRequest<Text>,
        scope: &mut Scope,
    ) {
        if let Some(place) = request.cookies {
            self.renew_cookies(plan, place, scope);
        }
        if let Some(place) = request.cache {
            let manager = &plan.cache_managers[place];
            self.caches[place].get_or_insert_with(|| {
                let entries_max = manager.max_entries.rendered(scope);
                let entries_max = entries_max.trim().parse().unwrap_or(0);
                Cache::new(manager.use_expires, entries_max)
            });
        }
        if let Some(place) = request.auth {
            let entries = &plan.auth_managers[place].entries;
            let mut constant = true;
            plan.auth_managers[place].map(&mut |text| constant &= text.constant().is_some());
            if self.logins[place].is_some() && constant {
                return;
            }
            let logins = entries.iter().map(|entry| Login {
                base_url: entry.base_url.rendered(scope),
                user: entry.user.rendered(scope),
                password: entry.password.rendered(scope),
                domain: entry.domain.rendered(scope),
                realm: entry.realm.rendered(scope),
                mechanism: entry.mechanism,
            });
            self.logins[place] = Some(logins.collect());
        }
    }

    /// The cookies of a manager as they are now, for scripts.
    pub(crate) fn cookies_now(
        &mut self,
        plan: &ResolvedPlan,
        place: usize,
        scope: &mut Scope,
    ) -> Vec<CookieView> {
        self.renew_cookies(plan, place, scope);
        let all = self.cookies[place].iter().flat_map(CookieStore::all);
        all.enumerate().map(shown).collect()
    }

    /// Replaces the cookies of a manager by what a script has made of them.
    pub(crate) fn set_cookies(&mut self, place: usize, cookies: Vec<CookieView>) {
        if let Some(store) = &mut self.cookies[place] {
            store.replace(cookies.into_iter().map(kept));
        }
    }

    fn renew_cookies(&mut self, plan: &ResolvedPlan, place: usize, scope: &mut Scope) {
        let manager = &plan.cookie_managers[place];
        if let Some(store) = &mut self.cookies[place] {
            store.renew(|of_plan, cookie| {
                let source = &manager.cookies[of_plan];
                if !is_constant(source) {
                    *cookie = cookie_of(source, scope);
                }
            });
            return;
        }
        let mut store = CookieStore::new(rules(plan, manager, scope));
        store.reset(
            manager
                .cookies
                .iter()
                .map(|source| cookie_of(source, scope)),
        );
        self.cookies[place] = Some(store);
    }

    /// Adds to a request what it has to say beside itself; nothing if its answer is known and
    /// fresh.
    pub(crate) fn dress(
        &mut self,
        request: &HttpRequest<Text>,
        sent: &mut SentRequest,
        now_ms: i64,
    ) -> Option<Errand> {
        let mut errand = Errand::default();
        if let Some(cache) = request.cache.and_then(|place| self.caches[place].as_ref()) {
            let fields = sent.header_fields(FieldsAt::AfterPlan);
            let conditions = cache.conditions(&sent.url, &pairs(&fields));
            let names = [
                ("If-Modified-Since", conditions.if_modified_since),
                ("If-None-Match", conditions.if_none_match),
            ];
            for (name, value) in names {
                let value = value.map(|value| (name, value.to_owned()));
                errand.fields.extend(value);
            }
        }
        if let Some(store) = request
            .cookies
            .and_then(|place| self.cookies[place].as_ref())
        {
            let origin = Origin::of(&sent.url);
            let cookies = origin.and_then(|origin| store.header(&origin));
            errand
                .fields
                .extend(cookies.map(|cookies| ("Cookie", cookies)));
        }
        errand.push_fields(sent);
        if let Some(cache) = request.cache.and_then(|place| self.caches[place].as_ref())
            && sent.method() == "GET"
        {
            let fields = sent.header_fields(FieldsAt::AfterPlan);
            if cache.is_fresh(&sent.url, &pairs(&fields), now_ms) {
                return None;
            }
        }
        self.introduce(request, sent, &mut errand);
        Some(errand)
    }

    /// Adds to a request that continues another out of sight what JMeter's library takes along:
    /// the fields of the first request, and the proof, anew if it goes to another host.
    pub(crate) fn dress_hop(
        &mut self,
        request: &HttpRequest<Text>,
        sent: &mut SentRequest,
        errand: &mut Errand,
        to_same_host: bool,
    ) {
        errand.push_fields(sent);
        if !to_same_host {
            errand.proof = None;
            self.introduce(request, sent, errand);
        } else if errand.proof.is_some() {
            let random = self.random.next_u64();
            errand.prove(sent, random);
        }
    }

    /// Begins to say who the user is, if the plan has it say so.
    fn introduce(
        &mut self,
        request: &HttpRequest<Text>,
        sent: &mut SentRequest,
        errand: &mut Errand,
    ) {
        let logins = request.auth.and_then(|place| self.logins[place].as_ref());
        let Some(logins) = logins.filter(|_| !sent.has_field("Authorization")) else {
            return;
        };
        let Some(origin) = Origin::of(&sent.url) else {
            return;
        };
        let login = login_for(logins, &origin);
        let known = self.credentials.entry(server_of(&origin)).or_default();
        let Some(login) = login else {
            return known.clear();
        };
        errand.proof = Some(known.begin(login));
        let random = self.random.next_u64();
        errand.prove(sent, random);
    }

    /// Whether an answer asks for a proof that can be given: the request is changed and goes out
    /// once more.
    pub(crate) fn is_asked_again(
        &mut self,
        sent: &mut SentRequest,
        errand: &mut Errand,
        status: u16,
        head: &[u8],
    ) -> bool {
        let Some(proof) = &mut errand.proof else {
            return false;
        };
        let fields = if status == 401 {
            head_fields(head)
        } else {
            Vec::new()
        };
        let credentials =
            Origin::of(&sent.url).and_then(|origin| self.credentials.get(&server_of(&origin)));
        let credentials = credentials.cloned().unwrap_or_default();
        if !proof.answered(&credentials, status, &pairs(&fields)) {
            return false;
        }
        sent.remove_field("Authorization");
        let random = self.random.next_u64();
        errand.prove(sent, random);
        true
    }

    /// Remembers what the answer to a request says that does not go on out of sight.
    pub(crate) fn answered(
        &mut self,
        plan: &ResolvedPlan,
        request: &HttpRequest<Text>,
        sent: &SentRequest,
        (status, head): (u16, &[u8]),
        now_ms: i64,
    ) {
        let fields = head_fields(head);
        let fields = pairs(&fields);
        let store = request
            .cookies
            .and_then(|place| self.cookies[place].as_mut());
        if let (Some(store), Some(origin)) = (store, Origin::of(&sent.url)) {
            let prefix = plan.session.saved_cookie_prefix.as_deref();
            let saved = &mut self.saved;
            let sets = |name: &str| name.eq_ignore_ascii_case("Set-Cookie");
            for (_, value) in fields.iter().filter(|(name, _)| sets(name)) {
                store.receive(&origin, value, now_ms, |cookie| {
                    saved.extend(
                        prefix.map(|prefix| {
                            (format!("{prefix}{}", cookie.name), cookie.value.clone())
                        }),
                    );
                });
            }
        }
        let cache = request.cache.and_then(|place| self.caches[place].as_mut());
        let mut methods = plan.session.cacheable_methods.iter();
        if let Some(cache) = cache
            && methods.any(|method| method.eq_ignore_ascii_case(sent.method()))
        {
            let mut sent_fields = sent.header_fields(FieldsAt::End);
            sent_fields.retain(|(name, _)| !name.eq_ignore_ascii_case("Cookie"));
            let answer = Answer::of(&fields);
            cache.keep(&sent.url, status, &answer, &pairs(&sent_fields), now_ms);
        }
    }

    /// The cookies that have become variables since the last call.
    pub(crate) fn take_saved(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.saved)
    }
}

impl Errand {
    fn push_fields(&self, sent: &mut SentRequest) {
        for (name, value) in &self.fields {
            sent.set_field(name, value);
        }
    }

    fn prove(&mut self, sent: &mut SentRequest, random: u64) {
        let Some(proof) = &mut self.proof else {
            return;
        };
        let has_body = !matches!(sent.method(), "HEAD" | "OPTIONS" | "TRACE")
            && (sent.method() != "GET" || !sent.written_body().is_empty());
        let signed = Signed {
            method: sent.method(),
            uri: sent.uri(),
            body: has_body.then_some(sent.written_body()),
        };
        if let Some(field) = proof.field(&signed, random) {
            sent.add_last_field("Authorization", &field);
        }
    }
}

/// The server of a URL, as credentials are kept for it.
fn server_of(origin: &Origin<'_>) -> String {
    let port = origin.port.map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}", origin.scheme, origin.host)
}

fn is_constant(cookie: &StaticCookie<Text>) -> bool {
    let texts = [&cookie.name, &cookie.value, &cookie.domain, &cookie.path];
    texts.iter().all(|text| text.constant().is_some())
}

fn cookie_of(source: &StaticCookie<Text>, scope: &mut Scope) -> Cookie {
    Cookie {
        name: source.name.rendered(scope),
        value: source.value.rendered(scope),
        domain: source.domain.rendered(scope),
        path: source.path.rendered(scope),
        is_secure: source.secure,
        gives_domain: source.gives_domain,
        gives_path: source.gives_path,
        version: source.version,
    }
}

/// A cookie for scripts.
fn shown((known, cookie): (usize, &Cookie)) -> CookieView {
    let Cookie {
        name,
        value,
        domain,
        path,
        ..
    } = cookie.clone();
    CookieView {
        name,
        value,
        domain,
        path,
        is_secure: cookie.is_secure,
        gives_domain: cookie.gives_domain,
        gives_path: cookie.gives_path,
        version: cookie.version,
        known: Some(known),
    }
}

/// A cookie out of a script's hands, and which one it was.
fn kept(view: CookieView) -> (Cookie, Option<usize>) {
    let cookie = Cookie {
        name: view.name,
        value: view.value,
        domain: view.domain,
        path: view.path,
        is_secure: view.is_secure,
        gives_domain: view.gives_domain,
        gives_path: view.gives_path,
        version: view.version,
    };
    (cookie, view.known)
}

fn rules(plan: &ResolvedPlan, manager: &CookieManager<Text>, scope: &mut Scope) -> CookieRules {
    CookieRules {
        policy: CookiePolicy::named(&manager.policy.rendered(scope)).unwrap_or_default(),
        checks: plan.session.checks_cookies,
        drops_empty: plan.session.drops_empty_cookies,
    }
}

fn pairs(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect()
}

/// The fields of a response's head, with a character for each byte; lines that begin with a blank
/// belong to the line before.
fn head_fields(head: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| -> String { bytes.iter().map(|byte| char::from(*byte)).collect() };
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        if let [b' ' | b'\t', ..] = line {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(&text(line.trim_ascii()));
            }
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            fields.push((text(name), text(value)));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_have_fields() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\xe9\r\nX : 1,\r\n\t 2\r\nno field\r\n\r\n";
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            head_fields(head),
            [field("Set-Cookie", "a=\u{e9}"), field("X", "1, 2")]
        );
        assert!(head_fields(b"").is_empty());
    }
}
