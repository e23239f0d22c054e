//! The gateway's file: of the one that trials go through, and of the one that holds the server
//! afterwards.

use std::net::SocketAddr;

use super::{GateClass, GateLimits};

impl GateLimits {
    /// For trials: on ports that are free, and with times that end no request of a load.
    pub fn file_of_trials(&self, server: SocketAddr) -> String {
        format!(
            "# The gateway that the trials of this run go through; its limits are set over its admin port.\n\
             listen = \"127.0.0.1:0\"\n\
             admin = \"127.0.0.1:0\"\n\
             backends = [\"http://{server}\"]\n\
             \n\
             {}\n\
             [timeouts]\n\
             idle = \"600s\"\n\
             body = \"600s\"\n\
             response = \"600s\"\n\
             drain = \"1s\"\n",
            self.table()
        )
    }

    /// Ready to use: `weir gate GATE.toml`.
    pub fn file_to_hold(&self, server: SocketAddr) -> String {
        format!(
            "# Holds the flow where the study found that it is to be held: weir gate GATE.toml\n\
             listen = \"127.0.0.1:8081\"          # where clients connect from now on\n\
             admin = \"127.0.0.1:8082\"           # the live page, /metrics, POST /limits\n\
             backends = [\"http://{server}\"]   # the server of the study\n\
             \n\
             # As in the trials, in which the surplus waited. With a shorter max-wait it is answered with 503 and\n\
             # Retry-After instead.\n\
             {}",
            self.table()
        )
    }

    fn table(&self) -> String {
        let classes: Vec<String> = self.classes.iter().map(GateClass::table).collect();
        format!(
            "[limit]\n{}max-wait = \"{}ms\"\nmax-queue = {}\n{}",
            limits(self.concurrency, self.rate_per_s),
            self.max_wait.as_millis(),
            self.max_queue,
            classes.concat()
        )
    }
}

impl GateClass {
    fn table(&self) -> String {
        let told = self.matches.iter();
        let told: Vec<String> = told
            .map(|(by, what)| format!("{by} = {}", text(what)))
            .collect();
        let limits = limits(self.concurrency, self.rate_per_s);
        let matches = if told.is_empty() {
            String::new()
        } else {
            format!("match = {{ {} }}\n", told.join(", "))
        };
        format!(
            "\n[[class]]\nname = {}\n{matches}{limits}",
            text(&self.name)
        )
    }
}

/// The lines of those that there are.
fn limits(concurrency: Option<f64>, rate_per_s: Option<f64>) -> String {
    let concurrency = concurrency.map(|most| format!("concurrency = {most}\n"));
    let rate = rate_per_s.map(|per_s| format!("rate = \"{per_s}/s\"\n"));
    concurrency.into_iter().chain(rate).collect()
}

/// A text as TOML has it: JSON's texts are among its basic strings.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
