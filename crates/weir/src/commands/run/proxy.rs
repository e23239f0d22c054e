//! The proxy of JMeter's command line: `-H`, `-P`, `-E`, `-N`, `-u`, `-a`.

use weir_jmeter::PlannedServer;
use weir_plan::{Proxy, Template};

use super::grammar::PlanArguments;
use crate::error::ExpectedError;

/// The proxy for all requests that have none of their own.
pub(super) fn typed(arguments: &PlanArguments) -> Result<Option<Proxy>, ExpectedError> {
    let (host, port) = match (&arguments.proxy_host, &arguments.proxy_port) {
        (Some(host), Some(port)) => (host, port),
        (None, None) => return Ok(None),
        _ => {
            let says = "-H and -P go together: the proxy's host and its port";
            return Err(ExpectedError::Input(says.to_owned()));
        }
    };
    if port.parse::<u16>().is_ok_and(|port| port > 0) {
        let text = |given: &Option<String>| Template::literal(given.clone().unwrap_or_default());
        return Ok(Some(Proxy {
            scheme: text(&arguments.proxy_scheme),
            host: Template::literal(host),
            port: Template::literal(port),
            user: text(&arguments.proxy_user),
            password: text(&arguments.proxy_password),
            not_for: text(&arguments.non_proxy_hosts),
        }));
    }
    let says = format!("-P {port}: a port is a number from 1 to 65535");
    Err(ExpectedError::Input(says))
}

/// The proxy as a server that gets load.
pub(super) fn server(proxy: &Proxy) -> Option<PlannedServer> {
    let url = format!("http://{}:{}", proxy.host.text, proxy.port.text);
    Some(PlannedServer {
        server: url.parse().ok()?,
        named_in: "the command line".to_owned(),
    })
}

/// The proxy in a JMeter's words, but for who asks it: everybody may read a command line.
pub(super) fn words(arguments: &PlanArguments) -> Vec<String> {
    let options = [
        ("-H", &arguments.proxy_host),
        ("-P", &arguments.proxy_port),
        ("-E", &arguments.proxy_scheme),
        ("-N", &arguments.non_proxy_hosts),
    ];
    let given = options.into_iter();
    given
        .filter_map(|(option, value)| Some([option.to_owned(), value.clone()?]))
        .flatten()
        .collect()
}

/// Who asks the proxy, in the properties that JMeter makes of `-u` and `-a`.
pub(super) fn properties(arguments: &PlanArguments) -> impl Iterator<Item = (String, String)> {
    let given = [
        ("http.proxyUser", &arguments.proxy_user),
        ("http.proxyPass", &arguments.proxy_password),
    ];
    let given = given.into_iter();
    given.filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn check(words: &str) -> Result<Option<Proxy>, ExpectedError> {
        let words = ["weir run", "a.jmx"]
            .into_iter()
            .chain(words.split_whitespace());
        typed(&PlanArguments::parse_from(words))
    }

    #[test]
    fn a_proxy_has_a_host_and_a_port() {
        assert_eq!(check("").unwrap(), None);
        let proxy = check("-H p -P 3128 -N localhost -u u -a w")
            .unwrap()
            .unwrap();
        assert_eq!((&*proxy.host.text, &*proxy.port.text), ("p", "3128"));
        assert_eq!(
            (&*proxy.not_for.text, &*proxy.user.text),
            ("localhost", "u")
        );
        for words in ["-H p", "-P 1", "-H p -P x", "-H p -P 0"] {
            assert_eq!(check(words).unwrap_err().exit_code(), 2, "{words}");
        }
    }

    #[test]
    fn a_jmeter_is_told_in_its_own_words() {
        let typed = "weir run|a.jmx|-H|p|-P|1|-u|me|-a|s3cret";
        let arguments = PlanArguments::parse_from(typed.split('|'));
        assert_eq!(words(&arguments), ["-H", "p", "-P", "1"]);
        let who: Vec<String> = properties(&arguments)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(who, ["http.proxyUser=me", "http.proxyPass=s3cret"]);
    }
}
