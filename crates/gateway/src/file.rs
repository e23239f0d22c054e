//! The gateway's file, read with all problems at once, each with the way out.

mod backends;
mod class;
mod cpu_from;
mod front;
mod key;
mod limit;
mod log;
mod proxies;
mod quantity;
mod scale;
mod tls;

use std::ops::Range;

use weir_userfile::{Problem, Section, check_schema, read_file_with};

use crate::settings::Settings;

/// The version of the format that this reader understands; a file need not name it.
pub const GATE_SCHEMA: &str = "weir/gate/1";

impl Settings {
    /// Reads the settings from the text of a file; the problems stand in the file's order. A text
    /// in it may have `${NAME}` for a variable of the environment.
    ///
    /// ```
    /// use weir_gateway::Settings;
    ///
    /// let settings = Settings::parse(
    ///     r#"
    ///     listen = "127.0.0.1:8081"
    ///     backends = ["http://127.0.0.1:8080"]
    ///     [limit]
    ///     rate = "50/s"
    ///     "#,
    /// )
    /// .expect("nothing is wrong with it");
    /// assert_eq!(settings.limit.rate_per_s, Some(50.0));
    ///
    /// let problems = Settings::parse(
    ///     r#"
    ///     listen = "127.0.0.1:8081"
    ///     backends = ["ftp://127.0.0.1:8080"]
    ///     [limit]
    ///     rat = "50/s"
    ///     "#,
    /// )
    /// .unwrap_err();
    /// assert_eq!(problems.len(), 2);
    /// assert_eq!(problems[1].help.as_deref(), Some("did you mean `rate`?"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse_with(text, |name| std::env::var(name).ok())
    }

    /// As [`parse`](Self::parse), with variables from elsewhere than the environment.
    pub fn parse_with(
        text: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Vec<Problem>> {
        read_file_with("the gateway's file", text, variable, read)
    }
}

fn read(root: &Section<'_>) -> Option<Settings> {
    if root.table().contains_key("schema") {
        check_schema(root, GATE_SCHEMA);
    } else {
        root.know(&["schema"]);
    }
    let front = front::read(root);
    let tls = tls::read(root);
    let log = log::read(root);
    let proxies = proxies::read(root);
    let backends = backends::read(root);
    let backend_tls = backends::tls(root);
    let health = backends::health(root);
    let scale = scale::read(root);
    let limit = limit::read(root);
    let classes = class::read(root);
    let keys = key::read(root, &classes);
    root.finish();
    let listen = front.listen?;
    Some(Settings {
        listen,
        backends: backends?,
        backend_tls,
        admin: front.admin.address,
        admin_token: front.admin.token,
        admin_read_token: front.admin.read_token,
        threads: front.threads,
        max_connections: front.max_connections,
        access_log: front.access_log,
        log,
        hand_over: front.hand_over,
        monitor: front.monitor,
        watches_file: front.watches_file,
        forwarded: front.forwarded,
        proxies,
        tls,
        limit,
        classes,
        keys,
        timeouts: front.timeouts,
        request: front.request,
        health,
        scale,
    })
}

/// The tables of a list of which each begins with its name in double brackets.
fn sections<'a>(
    root: &Section<'a>,
    key: &'static str,
    name: &str,
) -> Option<(Range<usize>, Vec<Section<'a>>)> {
    let value = root.value(key)?;
    let Some(list) = value.get_ref().as_array() else {
        root.problems().add_with_help(
            value.span(),
            format!("`{key}` is not a list of tables"),
            format!("begin each with `{name}`, in double brackets"),
        );
        return None;
    };
    let tables = list.iter().filter_map(|one| root.section_of(name, one));
    Some((value.span(), tables.collect()))
}

#[cfg(test)]
mod tests;
