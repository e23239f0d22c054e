//! Which of a log's requests a plan sends, and in which shares.

use weir_accesslog::{Endpoint, Traffic};

/// Share of the requests that may be sent which the chosen endpoints have to cover.
const COVERED: f64 = 0.95;
/// Endpoints of a plan at most.
const ENDPOINTS_MAX: usize = 20;
/// Methods that change nothing (RFC 9110, section 9.2.1).
const SAFE: [&str; 2] = ["GET", "HEAD"];
/// What is mostly served by a cache or a proxy in front, and would hide the server's own work.
const STATIC: [&str; 17] = [
    "css", "js", "map", "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "woff", "woff2", "ttf",
    "eot", "mp4", "txt", "pdf",
];

/// The requests of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The endpoints, the most frequent first.
    pub endpoints: Vec<MixedEndpoint>,
    /// Share of all requests of the log that they stand for.
    pub covered: f64,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

/// An endpoint of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedEndpoint {
    /// `GET /posts/{n}`.
    pub name: String,
    /// Its method.
    pub method: String,
    /// Share of the plan's requests.
    pub share: f64,
    /// How its requests differ.
    pub varies: Varies,
}

/// How the requests of an endpoint differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Varies {
    /// All are this one.
    Not(String),
    /// Only in a page, which is any number of a range.
    Paging(PagingRange),
    /// They are taken from those that the log has.
    Among(Vec<String>),
}

/// A path and query with a page in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagingRange {
    /// What stands before the number.
    pub before: String,
    /// What stands behind it.
    pub after: String,
    /// The smallest page.
    pub low: i64,
    /// The largest page.
    pub high: i64,
}

/// Requests that a plan does not send.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Which, and why.
    pub what: String,
    /// Share of all requests.
    pub share: f64,
}

impl Mix {
    /// Chooses the endpoints; nothing when the log has no request that may be sent.
    pub fn of(traffic: &Traffic) -> Option<Self> {
        let all = traffic.requests as f64;
        let mut left_out = Vec::new();
        let mut leave = |what: &str, endpoints: &[&Endpoint]| {
            let requests: u64 = endpoints.iter().map(|of| of.requests).sum();
            if requests > 0 {
                left_out.push(LeftOut {
                    what: what.to_owned(),
                    share: requests as f64 / all,
                });
            }
        };
        let (safe, unsafe_): (Vec<_>, Vec<_>) = traffic
            .endpoints
            .iter()
            .partition(|of| SAFE.contains(&of.method.as_str()));
        leave(
            "other methods than GET and HEAD: sent again, they could change data",
            &unsafe_,
        );
        let (own, files): (Vec<_>, Vec<_>) = safe.into_iter().partition(|of| !is_file(&of.path));
        leave("files such as images and scripts", &files);
        let (answered, failed): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|of| !of.samples.is_empty());
        leave("endpoints that only gave errors", &failed);
        let possible: u64 = answered.iter().map(|of| of.requests).sum();
        let mut chosen = 0;
        let mut sum = 0;
        for endpoint in answered.iter().take(ENDPOINTS_MAX) {
            if sum as f64 >= COVERED * possible as f64 {
                break;
            }
            sum += endpoint.requests;
            chosen += 1;
        }
        let (taken, rare) = answered.split_at(chosen);
        leave("rare endpoints", rare);
        let endpoints: Vec<MixedEndpoint> = taken
            .iter()
            .map(|endpoint| MixedEndpoint {
                name: format!("{} {}", endpoint.method, endpoint.path),
                method: endpoint.method.clone(),
                share: endpoint.requests as f64 / sum as f64,
                varies: varies(endpoint),
            })
            .collect();
        if traffic.others > 0 {
            left_out.push(LeftOut {
                what: "endpoints beyond those that are told apart".to_owned(),
                share: traffic.others as f64 / all,
            });
        }
        (!endpoints.is_empty()).then_some(Self {
            endpoints,
            covered: sum as f64 / all,
            left_out,
        })
    }
}

fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = name.rsplit_once('.').map(|(_, kind)| kind.to_lowercase());
    kind.is_some_and(|kind| STATIC.contains(&kind.as_str()))
}

fn varies(endpoint: &Endpoint) -> Varies {
    let mut different = endpoint.samples.clone();
    different.sort();
    different.dedup();
    if let [only] = &different[..] {
        return Varies::Not(only.clone());
    }
    paging(endpoint).map_or_else(|| Varies::Among(endpoint.samples.clone()), Varies::Paging)
}

/// The range of pages, when nothing else differs.
fn paging(endpoint: &Endpoint) -> Option<PagingRange> {
    let parameter = endpoint.parameters.iter().find(|of| of.is_paging())?;
    let numbers = parameter.numbers?;
    let split = |sample: &str| {
        let query = sample.find('?')?;
        let mark = format!("{}=", parameter.name);
        let starts = |of: &str| [format!("?{of}"), format!("&{of}")];
        let at = starts(&mark)
            .iter()
            .find_map(|mark| sample[query..].find(mark).map(|at| query + at + mark.len()))?;
        let digits = sample[at..].find('&').map_or(sample.len(), |end| at + end);
        Some((sample[..at].to_owned(), sample[digits..].to_owned()))
    };
    let mut all = endpoint.samples.iter().map(|sample| split(sample));
    let (before, after) = all.next()??;
    let is_same = all.all(|other| other.as_ref() == Some(&(before.clone(), after.clone())));
    is_same.then_some(PagingRange {
        before,
        after,
        low: numbers.low,
        high: numbers.high,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    pub(crate) fn line(request: &str, status: u16) -> String {
        format!("::1 - - [21/Nov/2026:21:12:00 +0000] \"{request} HTTP/1.1\" {status} 1\n")
    }

    fn mix(requests: &[(&str, u16, usize)]) -> Option<Mix> {
        let lines = requests
            .iter()
            .map(|(request, status, count)| line(request, *status).repeat(*count));
        let log: String = lines.collect();
        Mix::of(&weir_accesslog::read_from(log.as_bytes()).unwrap())
    }

    #[test]
    fn the_frequent_endpoints_are_taken_and_the_rest_is_said() {
        let mix = mix(&[
            ("GET /posts?board=1&page=3", 200, 40),
            ("GET /posts?board=1&page=500", 200, 20),
            ("GET /", 200, 20),
            ("GET /posts/7", 200, 5),
            ("GET /posts/8", 200, 5),
            ("GET /rare", 200, 1),
            ("POST /posts", 201, 4),
            ("GET /logo.png", 200, 3),
            ("GET /gone", 404, 2),
        ])
        .unwrap();
        let told: Vec<(&str, f64)> = mix
            .endpoints
            .iter()
            .map(|of| (of.name.as_str(), (of.share * 90.0).round()))
            .collect();
        assert_eq!(
            told,
            [
                ("GET /posts", 60.0),
                ("GET /", 20.0),
                ("GET /posts/{n}", 10.0)
            ]
        );
        let paging = PagingRange {
            before: "/posts?board=1&page=".to_owned(),
            after: String::new(),
            low: 3,
            high: 500,
        };
        assert_eq!(mix.endpoints[0].varies, Varies::Paging(paging));
        assert_eq!(mix.endpoints[1].varies, Varies::Not("/".to_owned()));
        assert!(matches!(&mix.endpoints[2].varies, Varies::Among(of) if of.len() == 10));
        assert!((mix.covered - 0.9).abs() < 1e-12);
        let shares: Vec<f64> = mix
            .left_out
            .iter()
            .map(|of| (of.share * 100.0).round())
            .collect();
        assert_eq!(shares, [4.0, 3.0, 2.0, 1.0], "{:?}", mix.left_out);
    }

    #[test]
    fn what_differs_elsewhere_is_taken_from_the_log() {
        let mix = mix(&[("GET /a?x=1&page=2", 200, 1), ("GET /a?x=2&page=3", 200, 1)]).unwrap();
        assert!(matches!(mix.endpoints[0].varies, Varies::Among(_)));
    }

    #[test]
    fn a_log_without_a_request_that_may_be_sent_has_no_mix() {
        assert_eq!(mix(&[("POST /a", 200, 5)]), None);
        assert_eq!(mix(&[]), None);
    }
}
