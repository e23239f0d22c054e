//! The gateway in front of the server of a study, started.

use std::sync::Arc;

use weir_server::{GateClass, GateLimits, GateOptions, Gated, Server};
use weir_study::{GateClassSpec, GateSpec};

use crate::error::ExpectedError;
use crate::{output, places};

use super::{Place, failed};

pub(super) fn in_front(
    server: Box<dyn Server>,
    spec: &GateSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let behind = server.address();
    let gated = Gated::start(
        server,
        GateOptions {
            program: places::own_program()?,
            limits: GateLimits {
                concurrency: spec.concurrency,
                rate_per_s: spec.rate_per_s,
                max_wait: spec.max_wait,
                max_queue: spec.max_queue,
                classes: spec.classes.iter().map(class).collect(),
            },
            cpus: place.load_cpus.clone(),
            directory: place.directory.path().to_owned(),
            interrupted: Arc::clone(place.interrupted),
        },
    );
    let gated = gated.map_err(|error| failed(place, error))?;
    output::talk(&format!(
        "the load goes through a gateway on {}, in front of {behind}",
        gated.address()
    ));
    Ok(Box::new(gated))
}

fn class(spec: &GateClassSpec) -> GateClass {
    GateClass {
        name: spec.name.clone(),
        matches: spec.matches.clone(),
        concurrency: spec.concurrency,
        rate_per_s: spec.rate_per_s,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::time::Duration;

    use weir_gateway::Settings;

    use super::*;

    /// What a study writes is what the gateway reads.
    #[test]
    fn both_files_are_a_gateways() {
        let limits = GateLimits {
            concurrency: Some(40.0),
            rate_per_s: Some(1.0 / 60.0),
            max_wait: Duration::from_millis(200),
            max_queue: 10_000,
            classes: vec![GateClass {
                name: "db-heavy".to_owned(),
                matches: [
                    ("header".to_owned(), "X-Users: \"db\"*".to_owned()),
                    ("method".to_owned(), "POST".to_owned()),
                ]
                .into(),
                concurrency: Some(2.5),
                rate_per_s: None,
            }],
        };
        let longest = GateLimits {
            concurrency: None,
            max_wait: Duration::from_secs(600),
            ..limits.clone()
        };
        for (limits, server) in [(&limits, "127.0.0.1:8080"), (&longest, "[::1]:8080")] {
            let server = server.parse().unwrap();
            for text in [limits.file_of_trials(server), limits.file_to_hold(server)] {
                let settings = Settings::parse(&text).unwrap();
                settings.check().unwrap();
                assert_eq!(settings.limit.concurrency, limits.concurrency);
                assert_eq!(settings.limit.rate_per_s, limits.rate_per_s);
                assert_eq!(settings.limit.max_wait, limits.max_wait);
                assert_eq!(settings.limit.max_queue, Some(10_000));
                let [class] = settings.classes.as_slice() else {
                    panic!("one class: {:?}", settings.classes)
                };
                assert_eq!(
                    (class.name.as_str(), class.concurrency),
                    ("db-heavy", Some(2.5))
                );
            }
        }
    }
}
