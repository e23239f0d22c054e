//! What the application does: one file per endpoint.
//!
//! Everything that a request needs comes with it or from the files: nothing is shared between
//! requests but the pool. Each parameter is bounded, and what is out of bounds is refused by name
//! (400).

mod heavy;
mod light;
mod posts;
mod static_file;
mod stress;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::content::Content;
use crate::database::Statements;
use crate::http::{Method, Number, Request, Response};
use crate::pool::Pool;

/// Longest single sleep or hold that a parameter can ask for: ten minutes.
const MILLISECONDS_MAX: u64 = 600_000;

/// What a request can use while it runs.
pub(crate) struct Application<'worker> {
    pub(crate) content: &'worker Content,
    pub(crate) pool: &'worker Pool,
    pub(crate) statements: &'worker Statements,
    /// The worker's own source of randomness.
    pub(crate) random: &'worker mut Xoshiro256PlusPlus,
}

impl Application<'_> {
    /// Runs one request on the calling thread.
    pub(crate) fn answer(&mut self, request: &Request) -> Response {
        let path = request.path.as_str();
        let answer = match path {
            _ if path == "/stress" || path.starts_with("/stress/") => {
                allow(request, &[Method::Get, Method::Post])
                    .and_then(|()| stress::answer(self, &request.parameters))
            }
            "/light" => allow(request, GET).and_then(|()| light::answer(&request.parameters)),
            "/heavy" => {
                allow(request, GET).and_then(|()| heavy::answer(self.content, &request.parameters))
            }
            "/posts" => allow(request, GET).and_then(|()| posts::answer(self, &request.parameters)),
            _ => match path.strip_prefix("/static/") {
                Some(name) => allow(request, GET)
                    .and_then(|()| static_file::answer(self.content, name, &request.parameters)),
                None => Err(Response::refusal(
                    404,
                    "there is nothing here; the endpoints are /stress, /light, /heavy, /posts and /static/{1,2,4,8,16}k.txt",
                )),
            },
        };
        answer.unwrap_or_else(|refusal| refusal)
    }
}

const GET: &[Method] = &[Method::Get];

fn allow(request: &Request, methods: &'static [Method]) -> Result<(), Response> {
    if methods.contains(&request.method) {
        Ok(())
    } else {
        Err(Response::method_not_allowed(methods))
    }
}

/// A parameter that is a time in milliseconds.
const fn milliseconds(name: &'static str, default: u64) -> Number {
    Number {
        name,
        unit: "ms",
        range: 0..=MILLISECONDS_MAX,
        default,
    }
}
