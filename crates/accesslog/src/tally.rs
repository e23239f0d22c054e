//! Everything of a log that is kept.

use std::collections::{BTreeMap, HashMap};

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::fold::pattern;
use crate::frequent::Frequent;
use crate::line::{Missing, Request};
use crate::rates::{Counts, Rates};

/// Endpoints that are told apart; requests of any other count together.
pub const ENDPOINTS_MAX: usize = 10_000;
/// Parameters of an endpoint that are told apart.
pub const PARAMETERS_MAX: usize = 32;
/// Values of a parameter that are told apart; the smallest and the largest are known of all.
pub const VALUES_MAX: usize = 10_000;
/// Requests of an endpoint that are kept as they were, each with the same chance.
pub const SAMPLES_MAX: usize = 100;
/// Broken lines that are named.
pub const BROKEN_NAMED: usize = 10;
/// From this status on an answer is an error.
const ERROR: u16 = 400;
/// Share of a parameter's values that have to be numbers for it to be one.
const NUMERIC: f64 = 0.95;
/// Names of parameters that choose a page.
const PAGING: [&str; 9] = [
    "page",
    "p",
    "pageno",
    "pagenumber",
    "pageindex",
    "pagenum",
    "offset",
    "start",
    "skip",
];

/// What a log says.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// All lines.
    pub lines: u64,
    /// Lines without a request that could be understood.
    pub broken: u64,
    /// The numbers of the first of them.
    pub broken_first: Vec<u64>,
    /// What the first of them lacks.
    pub broken_lacks: Option<Missing>,
    /// All others.
    pub requests: u64,
    /// Endpoints, the most frequent first.
    pub endpoints: Vec<Endpoint>,
    /// Requests of endpoints beyond those that are told apart.
    pub others: u64,
    /// How often there was each status.
    pub statuses: BTreeMap<u16, u64>,
    /// How fast requests arrived; of a log with none, nothing.
    pub rates: Option<Rates>,
}

/// A method and a path in which numbers and ids are folded.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The method.
    pub method: String,
    /// The path's pattern: `/posts/{n}`.
    pub path: String,
    /// How often it was asked.
    pub requests: u64,
    /// How often the answer was an error, from 400 on.
    pub errors: u64,
    /// The one path of the pattern that a large part asks for, and how many at least.
    pub hot: Option<(String, u64)>,
    /// Parameters of its queries, the most frequent first.
    pub parameters: Vec<Parameter>,
    /// Some of the paths with queries that were asked and answered without an error.
    pub samples: Vec<String>,
}

/// A parameter of queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How often it was there.
    pub requests: u64,
    /// Its range, if its values are numbers.
    pub numbers: Option<Numbers>,
}

/// The range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The smallest.
    pub low: i64,
    /// Half of them are at most this.
    pub p50: i64,
    /// 95 % are at most this.
    pub p95: i64,
    /// The largest.
    pub high: i64,
}

impl Parameter {
    /// Whether it chooses a page, by its name.
    pub fn is_paging(&self) -> bool {
        let name = self.name.to_lowercase().replace(['-', '_'], "");
        self.numbers.is_some() && PAGING.contains(&name.as_str())
    }
}

/// Counts while a log is read.
#[derive(Debug)]
pub(crate) struct Tally {
    lines: u64,
    broken: u64,
    broken_first: Vec<u64>,
    broken_lacks: Option<Missing>,
    requests: u64,
    others: u64,
    statuses: BTreeMap<u16, u64>,
    endpoints: HashMap<(String, String), Counted>,
    rates: Counts,
    random: Xoshiro256PlusPlus,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            lines: 0,
            broken: 0,
            broken_first: Vec::new(),
            broken_lacks: None,
            requests: 0,
            others: 0,
            statuses: BTreeMap::new(),
            endpoints: HashMap::new(),
            rates: Counts::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(1),
        }
    }
}

#[derive(Debug, Default)]
struct Counted {
    requests: u64,
    good: u64,
    parameters: HashMap<String, Values>,
    frequent: Frequent,
    samples: Vec<String>,
}

#[derive(Debug, Default)]
struct Values {
    requests: u64,
    numbers: u64,
    range: Option<(i64, i64)>,
    counts: BTreeMap<i64, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, number: u64, request: Result<Request<'_>, Missing>) {
        self.lines += 1;
        let request = match request {
            Ok(request) => request,
            Err(missing) => {
                self.broken += 1;
                self.broken_lacks.get_or_insert(missing);
                if self.broken_first.len() < BROKEN_NAMED {
                    self.broken_first.push(number);
                }
                return;
            }
        };
        let count = request.stands_for;
        self.requests += count;
        *self.statuses.entry(request.status).or_default() += count;
        self.rates.add(request.second, count);
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let key = (request.method.clone().into_owned(), pattern(path));
        let is_folded = key.1.contains('{');
        if self.endpoints.len() >= ENDPOINTS_MAX && !self.endpoints.contains_key(&key) {
            self.others += count;
            return;
        }
        let endpoint = self.endpoints.entry(key).or_default();
        endpoint.requests += count;
        if is_folded {
            endpoint.frequent.add(path);
        }
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            endpoint.parameter(&name, &value, count);
        }
        if request.status < ERROR {
            endpoint.sample(&request.target, count, &mut self.random);
        }
    }

    pub(crate) fn finish(self) -> Traffic {
        let mut endpoints: Vec<Endpoint> = self
            .endpoints
            .into_iter()
            .map(|((method, path), counted)| counted.finish(method, path))
            .collect();
        endpoints.sort_by(|a, b| {
            let by_count = b.requests.cmp(&a.requests);
            by_count.then_with(|| (&a.path, &a.method).cmp(&(&b.path, &b.method)))
        });
        Traffic {
            lines: self.lines,
            broken: self.broken,
            broken_first: self.broken_first,
            broken_lacks: self.broken_lacks,
            requests: self.requests,
            endpoints,
            others: self.others,
            statuses: self.statuses,
            rates: self.rates.finish(),
        }
    }
}

impl Counted {
    fn parameter(&mut self, name: &str, value: &str, count: u64) {
        if self.parameters.len() >= PARAMETERS_MAX && !self.parameters.contains_key(name) {
            return;
        }
        let values = self.parameters.entry(name.to_owned()).or_default();
        values.requests += count;
        let Ok(number) = value.parse::<i64>() else {
            return;
        };
        values.numbers += count;
        let (low, high) = values.range.unwrap_or((number, number));
        values.range = Some((low.min(number), high.max(number)));
        if values.counts.len() < VALUES_MAX || values.counts.contains_key(&number) {
            *values.counts.entry(number).or_default() += count;
        }
    }

    /// Each of the requests is kept with the same chance (Vitter's algorithm R).
    fn sample(&mut self, target: &str, count: u64, random: &mut Xoshiro256PlusPlus) {
        self.good += count;
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(target.to_owned());
            return;
        }
        let at = random.random_range(0..self.good);
        if let Some(place) = self
            .samples
            .get_mut(usize::try_from(at).unwrap_or(usize::MAX))
        {
            target.clone_into(place);
        }
    }

    fn finish(self, method: String, path: String) -> Endpoint {
        let mut parameters: Vec<Parameter> = self
            .parameters
            .into_iter()
            .map(|(name, values)| Parameter {
                name,
                requests: values.requests,
                numbers: values.finish(),
            })
            .collect();
        parameters.sort_by(|a, b| {
            b.requests
                .cmp(&a.requests)
                .then_with(|| a.name.cmp(&b.name))
        });
        Endpoint {
            method,
            path,
            requests: self.requests,
            errors: self.requests - self.good,
            hot: self.frequent.most(self.requests),
            parameters,
            samples: self.samples,
        }
    }
}

impl Values {
    fn finish(self) -> Option<Numbers> {
        let (low, high) = self.range?;
        if (self.numbers as f64) < NUMERIC * self.requests as f64 {
            return None;
        }
        let counted: u64 = self.counts.values().sum();
        let quantile = |share: f64| {
            let rank = (share * counted as f64).ceil() as u64;
            let mut below = 0;
            let mut counts = self.counts.iter();
            counts
                .find(|(_, count)| {
                    below += **count;
                    below >= rank
                })
                .map_or(high, |(value, _)| *value)
        };
        Some(Numbers {
            low,
            p50: quantile(0.5),
            p95: quantile(0.95),
            high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(requests: &[(&str, &str, u16)]) -> Traffic {
        let mut tally = Tally::default();
        for (number, (method, target, status)) in requests.iter().enumerate() {
            let request = Request {
                second: 0,
                method: (*method).into(),
                target: (*target).into(),
                status: *status,
                stands_for: 1,
            };
            tally.add(number as u64, Ok(request));
        }
        tally.finish()
    }

    #[test]
    fn endpoints_are_counted_with_what_varies_in_them() {
        let targets: Vec<String> = (1..=100)
            .map(|page| format!("/posts/{page}?page={page}&sort=new"))
            .collect();
        let mut requests: Vec<(&str, &str, u16)> = targets
            .iter()
            .map(|target| ("GET", target.as_str(), 200))
            .collect();
        requests.extend([("GET", "/posts/7", 404), ("POST", "/posts/7", 201)]);
        let traffic = traffic(&requests);
        assert_eq!(
            traffic.statuses,
            BTreeMap::from([(200, 100), (201, 1), (404, 1)])
        );
        let told: Vec<_> = traffic
            .endpoints
            .iter()
            .map(|of| (of.method.as_str(), of.path.as_str(), of.requests, of.errors))
            .collect();
        assert_eq!(
            told,
            [("GET", "/posts/{n}", 101, 1), ("POST", "/posts/{n}", 1, 0)]
        );
        let [page, sort] = &traffic.endpoints[0].parameters[..] else {
            panic!("{:?}", traffic.endpoints[0].parameters);
        };
        let numbers = Numbers {
            low: 1,
            p50: 50,
            p95: 95,
            high: 100,
        };
        assert_eq!((page.numbers, page.is_paging()), (Some(numbers), true));
        assert_eq!((sort.numbers, sort.is_paging()), (None, false));
        assert_eq!(traffic.endpoints[0].samples.len(), SAMPLES_MAX);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let targets: Vec<String> = (0..ENDPOINTS_MAX + 5)
            .map(|of| format!("/{}", word(of)))
            .collect();
        let requests: Vec<(&str, &str, u16)> = targets
            .iter()
            .map(|target| ("GET", target.as_str(), 200))
            .collect();
        let all = traffic(&requests);
        assert_eq!((all.endpoints.len(), all.others), (ENDPOINTS_MAX, 5));
        let targets: Vec<String> = (0..VALUES_MAX + 5)
            .map(|value| format!("/?{}={value}", "x"))
            .collect();
        let requests: Vec<(&str, &str, u16)> = targets
            .iter()
            .map(|target| ("GET", target.as_str(), 200))
            .collect();
        let numbers = traffic(&requests).endpoints[0].parameters[0].numbers;
        assert_eq!(
            numbers.map(|of| (of.low, of.high)),
            i64::try_from(VALUES_MAX + 4).ok().map(|most| (0, most))
        );
    }

    /// A word without digits for a number.
    fn word(number: usize) -> String {
        let digits = number.to_string().into_bytes().into_iter();
        digits
            .map(|digit| char::from(digit - b'0' + b'g'))
            .collect()
    }

    /// A log of which one line in ten is kept is of ten times as many requests.
    #[test]
    fn a_line_may_stand_for_others() {
        let mut tally = Tally::default();
        for (status, stands_for) in [(200, 10), (200, 10), (503, 1)] {
            let request = Request {
                second: 7,
                method: "GET".into(),
                target: "/a?n=1".into(),
                status,
                stands_for,
            };
            tally.add(1, Ok(request));
        }
        let traffic = tally.finish();
        assert_eq!((traffic.lines, traffic.requests), (3, 21));
        assert_eq!(traffic.statuses[&200], 20);
        let endpoint = &traffic.endpoints[0];
        assert_eq!((endpoint.requests, endpoint.errors), (21, 1));
        let rates = traffic.rates.expect("there were requests");
        assert_eq!((rates.peak_second, rates.mean_per_s), (21, 21.0));
    }
}
