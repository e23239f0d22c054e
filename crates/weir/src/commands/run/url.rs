//! `weir run URL`: the short form, as ab, wrk and oha users type it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;
use weir_load::SampleSink;
use weir_plan::{
    Argument, ArrivalSchedule, Arrivals, Controller, ControllerKind, ElementId, HttpRequest,
    LoadPlan, Node, Position, Proxy, RateProfile, Sampler, Schedule, Starts, Template, ThreadGroup,
    WhenFull,
};
use weir_script::Properties;

use super::grammar::UrlArguments;
use super::kept::Kept;
use super::metrics::Metrics;
use super::values::{self, Header};
use super::{Conclusion, Load, before, conclude, measure_load, record};
use crate::error::ExpectedError;
use crate::{interrupt, plans};

/// How long a run is when nobody says how long or how many.
const DURATION_S: f64 = 10.0;

/// Loads one URL.
pub(super) fn run(arguments: &UrlArguments) -> Result<u8, ExpectedError> {
    let shared = &arguments.shared;
    before::check(shared)?;
    let urls = urls(arguments)?;
    let plan = plan_of_urls(arguments, &urls)?;
    look_up(arguments, &urls)?;
    let metrics = shared.metrics.map(Metrics::serve).transpose()?;
    let samples = metrics.clone().map(|metrics| {
        SampleSink::default().observed(Box::new(move |row, users| metrics.sample(row, users)))
    });
    let interrupted = interrupt::flag()?;
    let load = Load {
        plan: plans::resolve(&plan, &Properties::new(), shared.seed)?,
        shared,
        samples,
        metrics,
        // Arrivals are counted where they are made.
        samples_max: arguments.requests.filter(|_| arguments.rate.is_none()),
        // Arrivals come at their times, whether anybody answers or not.
        backs_off: arguments.rate.is_none(),
        asks_first: arguments.proxy.is_none(),
        interrupted: &interrupted,
    };
    let name = name_of(&urls);
    let (ran, population) = measure_load(load)?;
    let measured = ran.measured;
    let record = record(&measured, population, shared)?;
    let kept = if arguments.discard {
        None
    } else {
        Kept::write(&arguments.runs, &name, shared.seed, &measured, &record)
    };
    let conclusion = Conclusion {
        shared,
        name: &name,
        is_plan: false,
        stopped: ran.stopped.as_deref(),
        stored: kept.as_ref().map(|kept| &kept.directory),
    };
    let exit_code = conclude(&measured, record, &conclusion)?;
    if let Some(kept) = &kept {
        kept.report()?;
    }
    Ok(exit_code)
}

/// What is requested, in its order.
fn urls(arguments: &UrlArguments) -> Result<Vec<Url>, ExpectedError> {
    let mut urls = arguments.url.clone();
    if let Some(file) = &arguments.urls {
        urls.extend(values::urls(file).map_err(ExpectedError::Input)?);
    }
    Ok(urls)
}

/// What a run of these is called.
fn name_of(urls: &[Url]) -> String {
    match urls {
        [first, others @ ..] if !others.is_empty() => {
            format!("{} and {} more", bare(first), others.len())
        }
        urls => urls
            .first()
            .map(|url| bare(url).to_string())
            .unwrap_or_default(),
    }
}

/// A host that nobody knows is told once, rather than by every request. One behind a proxy is
/// looked up by the proxy.
fn look_up(arguments: &UrlArguments, urls: &[Url]) -> Result<(), ExpectedError> {
    if arguments.proxy.is_some() || arguments.shared.target.is_some() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    for url in urls {
        let host = url.host_str().unwrap_or_default();
        if known.insert((host, url.port_or_known_default())) {
            url.socket_addrs(|| None).map_err(|error| {
                ExpectedError::Environment(format!("failed to find the host `{host}`: {error}"))
            })?;
        }
    }
    Ok(())
}

/// A workload that asks for URLs again and again: closed, by users without think time, or open. Of
/// several each user asks for one after the other, the first of which is another one for each.
fn plan_of_urls(arguments: &UrlArguments, urls: &[Url]) -> Result<LoadPlan, ExpectedError> {
    let labels = labels(urls);
    let samplers = urls.iter().zip(labels);
    let samplers = samplers.map(|(url, label)| sampler(arguments, url, &label).map(Node::from));
    let samplers = samplers.collect::<Result<Vec<Node>, ExpectedError>>()?;
    let nodes = if samplers.len() == 1 {
        samplers
    } else {
        vec![Node::Controller(Box::new(Controller {
            id: ElementId(0),
            name: Template::literal("in turn"),
            kind: ControllerKind::Interleave {
                whole_children: false,
                across_users: true,
            },
            on_iteration: Vec::new(),
            children: samplers,
            at: Position::default(),
        }))]
    };
    let group = match &arguments.rate {
        Some(rate) => open_group(arguments, rate),
        None => closed_group(arguments),
    };
    let mut plan = LoadPlan {
        name: name_of(urls),
        groups: vec![ThreadGroup {
            name: Template::literal("users"),
            nodes,
            ..group
        }],
        ..LoadPlan::default()
    };
    if let Some(proxy) = &arguments.proxy {
        plan.set_proxy(&proxy_of(proxy)?);
    }
    Ok(plan)
}

/// How the samples of each URL are called: by its path, with as much more as tells it from the
/// others.
fn labels(urls: &[Url]) -> Vec<String> {
    let path = |url: &Url| url.path().to_owned();
    let with_query =
        |url: &Url| url[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
    let whole = |url: &Url| bare(url).to_string();
    let different: BTreeSet<&Url> = urls.iter().collect();
    let forms: [&dyn Fn(&Url) -> String; 2] = [&path, &with_query];
    let telling = forms.into_iter().find(|form| {
        let labels: BTreeSet<String> = different.iter().map(|url| form(url)).collect();
        labels.len() == different.len()
    });
    urls.iter().map(telling.unwrap_or(&whole)).collect()
}

/// The request for a URL.
fn sampler(arguments: &UrlArguments, url: &Url, label: &str) -> Result<Sampler, ExpectedError> {
    let literal = |text: &str| Template::literal(text);
    let typed = arguments.header.iter();
    let headers = typed
        .map(|header| (literal(&header.name), literal(&header.value)))
        .chain(authorization(url, &arguments.header)?)
        .collect();
    let body = arguments.body.as_ref().map(|body| Argument {
        name: literal(""),
        value: literal(body),
        always_encode: false,
        use_equals: false,
        content_type: Template::default(),
    });
    let timeout = arguments.timeout.map(|timeout| timeout.as_millis().max(1));
    let timeout = timeout.map_or_else(Template::default, |ms| literal(&ms.to_string()));
    let request = HttpRequest {
        method: literal(&arguments.method),
        raw_body: body.is_some(),
        arguments: body.into_iter().collect(),
        headers,
        keep_alive: !arguments.no_keepalive,
        connect_timeout_ms: timeout.clone(),
        response_timeout_ms: timeout,
        ..place(arguments, url)
    };
    Ok(Sampler::http(literal(label), request))
}

/// So many users all the time.
fn closed_group(arguments: &UrlArguments) -> ThreadGroup {
    let duration_s = match (arguments.duration, arguments.requests) {
        (Some(duration), _) => Some(duration.as_secs_f64()),
        (None, Some(_)) => None,
        (None, None) => Some(DURATION_S),
    };
    // A user that could not send one request would be of no use.
    let most = arguments.requests.unwrap_or(u64::MAX);
    let users = u64::from(arguments.connections).min(most);
    ThreadGroup {
        users: Template::literal(users.to_string()),
        ramp_up_s: Template::literal("0"),
        schedule: duration_s.map(|duration_s| Schedule {
            duration_s: Template::literal(duration_s.to_string()),
            delay_s: Template::literal("0"),
        }),
        ..ThreadGroup::default()
    }
}

/// Requests at a rate, by at most so many users.
fn open_group(arguments: &UrlArguments, rate: &RateProfile) -> ThreadGroup {
    let own_s = Some(rate.seconds()).filter(|seconds| *seconds > 0.0);
    let seconds = match (arguments.duration, arguments.requests) {
        (Some(duration), _) => Some(duration.as_secs_f64()),
        (None, Some(_)) => None,
        (None, None) => Some(own_s.unwrap_or(DURATION_S)),
    };
    let requests = arguments.requests.map(|requests| requests.to_string());
    ThreadGroup {
        starts: Starts::Arrivals(Box::new(Arrivals {
            schedule: ArrivalSchedule::Profile {
                rate: seconds.map_or_else(|| rate.clone(), |seconds| rate.until(seconds)),
                process: arguments.arrivals.into(),
            },
            users_max: Template::literal(arguments.connections.to_string()),
            arrivals_max: Template::literal(requests.unwrap_or_default()),
            iterations_max: Template::default(),
            when_full: WhenFull::Wait,
            new_users: false,
        })),
        ..ThreadGroup::default()
    }
}

/// The proxy of a URL; the name and the password in it are percent-encoded.
fn proxy_of(url: &Url) -> Result<Proxy, ExpectedError> {
    let decoded = |text: &str| {
        let text = percent_decoded(text);
        text.map(Template::literal).ok_or_else(|| {
            ExpectedError::Input("--proxy: name and password are not UTF-8".to_owned())
        })
    };
    Ok(Proxy {
        host: Template::literal(url.host_str().unwrap_or_default()),
        port: Template::literal(url.port_or_known_default().unwrap_or(80).to_string()),
        user: decoded(url.username())?,
        password: decoded(url.password().unwrap_or_default())?,
        ..Proxy::default()
    })
}

/// The URL without the name and the password, which nobody else is told.
fn bare(url: &Url) -> Url {
    let mut bare = url.clone();
    // Neither can fail: the URL has a host.
    let _ = (bare.set_username(""), bare.set_password(None));
    bare
}

/// The header field that tells the URL's name and password, unless one was typed.
fn authorization(
    url: &Url,
    typed: &[Header],
) -> Result<Option<(Template, Template)>, ExpectedError> {
    const NAME: &str = "Authorization";
    let is_typed = typed
        .iter()
        .any(|header| header.name.eq_ignore_ascii_case(NAME));
    if is_typed || (url.username().is_empty() && url.password().is_none()) {
        return Ok(None);
    }
    let decoded = |text: &str| {
        percent_decoded(text).ok_or_else(|| {
            ExpectedError::Input("the name and the password in the URL are not UTF-8".to_owned())
        })
    };
    let (user, password) = (
        decoded(url.username())?,
        decoded(url.password().unwrap_or_default())?,
    );
    let told = STANDARD.encode(format!("{user}:{password}"));
    let value = Template::literal(format!("Basic {told}"));
    Ok(Some((Template::literal(NAME), value)))
}

/// Text with `%XX` for bytes; `None` when the bytes are not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8(bytes).ok()
}

/// Where requests go. With random fields only the query differs from request to request, so that
/// the server is known beforehand.
fn place(arguments: &UrlArguments, url: &Url) -> HttpRequest {
    if arguments.random.is_empty() {
        return HttpRequest {
            path: Template::literal(bare(url).as_str()),
            ..HttpRequest::default()
        };
    }
    let fields = arguments.random.iter().map(|field| {
        let (name, low, high) = (&field.name, field.low, field.high);
        format!("{name}=${{__Random({low},{high})}}")
    });
    let query: Vec<String> = url
        .query()
        .map(str::to_owned)
        .into_iter()
        .chain(fields)
        .collect();
    let port = url.port().map_or_else(String::new, |port| port.to_string());
    HttpRequest {
        protocol: Template::literal(url.scheme()),
        host: Template::literal(url.host_str().unwrap_or_default()),
        port: Template::literal(port),
        path: Template::literal(format!("{}?{}", url.path(), query.join("&"))),
        ..HttpRequest::default()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// The first example of RFC 7617, 2.
    #[test]
    fn a_name_in_the_url_is_told_as_basic_authorization() {
        let url = "http://Aladdin:open%20sesame@127.0.0.1/x".parse().unwrap();
        let (name, value) = authorization(&url, &[]).unwrap().unwrap();
        assert_eq!(&*name.text, "Authorization");
        assert_eq!(&*value.text, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(bare(&url).as_str(), "http://127.0.0.1/x");
        let typed = [Header::parse("authorization: Bearer x").unwrap()];
        assert_eq!(authorization(&url, &typed).unwrap(), None);
        let plain = "http://127.0.0.1/".parse().unwrap();
        assert_eq!(authorization(&plain, &[]).unwrap(), None);
    }

    #[test]
    fn labels_tell_urls_apart() {
        let labels = |texts: &[&str]| {
            let urls: Vec<Url> = texts.iter().map(|text| text.parse().unwrap()).collect();
            labels(&urls)
        };
        assert_eq!(labels(&["http://h/a?b"]), ["/a"]);
        assert_eq!(
            labels(&["http://h/a", "http://h/b", "http://h/a"]),
            ["/a", "/b", "/a"]
        );
        assert_eq!(labels(&["http://h/a?1", "http://h/a?2"]), ["/a?1", "/a?2"]);
        let hosts = ["http://u:p@h/a", "http://i/a"];
        assert_eq!(labels(&hosts), ["http://h/a", "http://i/a"]);
    }

    #[test]
    fn a_proxy_has_its_password_in_its_url() {
        let url = "http://me%40home:a:b%25c@[::1]:3128".parse().unwrap();
        let proxy = proxy_of(&url).unwrap();
        assert_eq!((&*proxy.host.text, &*proxy.port.text), ("[::1]", "3128"));
        assert_eq!(
            (&*proxy.user.text, &*proxy.password.text),
            ("me@home", "a:b%c")
        );
        let url = "http://p.example".parse().unwrap();
        assert_eq!(&*proxy_of(&url).unwrap().port.text, "80");
    }
}
