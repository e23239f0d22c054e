//! What JMeter's properties say about cookies, kept answers and connections.

use crate::Properties;

/// The properties that Cookie and Cache Managers read, with JMeter's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionProperties {
    /// `CookieManager.check.cookies`: cookies that a server may not set are not kept.
    pub checks_cookies: bool,
    /// `CookieManager.delete_null_cookies`: cookies without a value are not kept.
    pub drops_empty_cookies: bool,
    /// `CookieManager.save.cookies` and `CookieManager.name.prefix`: cookies become variables
    /// whose names begin so.
    pub saved_cookie_prefix: Option<String>,
    /// `cacheable_methods`: answers to these are kept.
    pub cacheable_methods: Vec<String>,
    /// `cache_manager.cached_resource_mode`: the sample of a request that need not be sent.
    pub cached_sample: Option<CachedSample>,
    /// `httpclient.reset_state_on_thread_group_iteration`: a new user has new connections.
    pub renews_connections: bool,
}

/// What a sample says whose request was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedSample {
    /// Response code.
    pub code: String,
    /// Response message.
    pub message: String,
}

impl SessionProperties {
    pub(crate) fn of(properties: &Properties) -> Self {
        let text = |name: &str, default: &str| properties.get(name).unwrap_or(default).to_owned();
        let is = |name: &str, default: bool| flag(properties, name, default);
        let prefix = text("CookieManager.name.prefix", "COOKIE_");
        let sample = |code: String, message: String| Some(CachedSample { code, message });
        let methods = text("cacheable_methods", "GET");
        Self {
            checks_cookies: is("CookieManager.check.cookies", true),
            drops_empty_cookies: is("CookieManager.delete_null_cookies", true),
            saved_cookie_prefix: is("CookieManager.save.cookies", false)
                .then(|| prefix.trim().to_owned()),
            cacheable_methods: methods.split([' ', ',']).map(str::to_owned).collect(),
            cached_sample: match text("cache_manager.cached_resource_mode", "").trim() {
                "RETURN_200_CACHE" => sample(
                    "200".to_owned(),
                    text("RETURN_200_CACHE.message", "(ex cache)"),
                ),
                "RETURN_CUSTOM_STATUS" => sample(
                    text("RETURN_CUSTOM_STATUS.code", ""),
                    text("RETURN_CUSTOM_STATUS.message", ""),
                ),
                _ => None,
            },
            renews_connections: is("httpclient.reset_state_on_thread_group_iteration", true),
        }
    }
}

impl Default for SessionProperties {
    fn default() -> Self {
        Self::of(&Properties::new())
    }
}

/// A property that is true or false as JMeter reads it.
fn flag(properties: &Properties, name: &str, default: bool) -> bool {
    let Some(text) = properties.get(name) else {
        return default;
    };
    let text = text.trim();
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("t") || text == "1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_jmeters() {
        let default = SessionProperties::default();
        assert!(default.checks_cookies && default.drops_empty_cookies);
        assert!(default.renews_connections);
        assert_eq!(default.saved_cookie_prefix, None);
        assert_eq!(default.cacheable_methods, ["GET"]);
        assert_eq!(default.cached_sample, None);
    }

    #[test]
    fn properties_change_them() {
        let properties: Properties = [
            ("CookieManager.save.cookies", " TRUE "),
            ("CookieManager.name.prefix", " "),
            ("CookieManager.check.cookies", "f"),
            ("cacheable_methods", "GET,POST"),
            ("cache_manager.cached_resource_mode", "RETURN_200_CACHE"),
        ]
        .into_iter()
        .collect();
        let read = SessionProperties::of(&properties);
        assert_eq!(read.saved_cookie_prefix.as_deref(), Some(""));
        assert!(!read.checks_cookies);
        assert_eq!(read.cacheable_methods, ["GET", "POST"]);
        let sample = read.cached_sample.expect("a sample");
        assert_eq!((&*sample.code, &*sample.message), ("200", "(ex cache)"));
    }
}
