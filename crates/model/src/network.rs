//! A model as a network file, for the simulator: what the formulas leave out can be added there.

use std::fmt::Write as _;

use crate::fitted::FittedModel;
use crate::prediction::Question;

impl FittedModel {
    /// The network file (`weir/network/1`) of a treatment: users, a thread limit, the CPU, the
    /// pool.
    pub fn network_file(&self, question: Question) -> String {
        let found = &self.parameters;
        let mut text = format!(
            "# Fitted to {} trials by `weir model`. Times are means; exponential ones are an assumption.\n\
             schema = \"weir/network/1\"\n\
             question = \"What does the fitted server do with {question}?\"\n\n\
             [station.cpu]\n\
             servers = {}\n\
             discipline = \"processor-sharing\"\n",
            self.set.trials.len(),
            self.set.servers
        );
        let mut steps = Vec::new();
        let mut held = Vec::new();
        if let Some(threads) = question.limits.threads {
            limit(&mut text, "threads", threads);
            steps.push("{ acquire = \"threads\" }".to_owned());
            held.push("{ release = \"threads\" }".to_owned());
        }
        steps.push(format!(
            "{{ use = \"cpu\", time = {{ exponential = \"{}\" }} }}",
            time(found.cpu_s)
        ));
        steps.extend(sleep(found.delay_s));
        if found.hold_s > 0.0 {
            let pool = question.limits.pool;
            if let Some(connections) = pool {
                limit(&mut text, "pool", connections);
                steps.push("{ acquire = \"pool\" }".to_owned());
            }
            steps.extend(sleep(found.hold_s));
            steps.extend(pool.map(|_| "{ release = \"pool\" }".to_owned()));
        }
        steps.append(&mut held);
        steps.extend(sleep(found.outside_s));
        let _ = write!(
            text,
            "\n[class.request]\nusers = {}\nthink = {{ exponential = \"{}\" }}\nroute = [\n  {},\n]\n",
            question.population,
            time(found.think_s),
            steps.join(",\n  ")
        );
        text
    }
}

fn limit(text: &mut String, name: &str, capacity: u32) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n[limit.{name}]\ncapacity = {capacity}\n");
}

/// A step that takes time and uses nothing; none for a time too short to write down.
fn sleep(seconds: f64) -> Option<String> {
    (seconds >= TIME_MIN_S)
        .then(|| format!("{{ sleep = {{ exponential = \"{}\" }} }}", time(seconds)))
}

/// Times are written to the nanosecond.
const TIME_MIN_S: f64 = 1e-9;

fn time(seconds: f64) -> String {
    format!("{:.9} s", seconds.max(TIME_MIN_S))
}
