//! Changes while the gateway runs: by a new file, or by the admin port.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use weir_limit::Seen;
use weir_metric::{Quantity, Unit};

use crate::cpu::Place;
use crate::error::GatewayError;
use crate::gate_file::{FileError, GateFile, Keep, Lasting, Reload, with_learnt};
use crate::gatehouse::Shared;
use crate::live::Live;
use crate::rules::rules;
use crate::settings::Settings;
use crate::status::LearntStatus;

/// Whoever changes settings, one at a time.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) shared: Arc<Shared>,
    changing: Mutex<Origin>,
}

/// Where the settings in force came from.
#[derive(Debug, Default)]
struct Origin {
    /// Their file, as it was last read.
    file: Option<GateFile>,
    /// Keys of limits that were changed since by other means.
    changed_since: BTreeSet<String>,
}

/// Limits to change; what is not named stays, `null` takes a limit away.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// The class whose own limits are changed; without one, those over all.
    #[serde(default)]
    pub(crate) class: Option<String>,
    /// Requests in flight.
    #[serde(default)]
    pub(crate) concurrency: Wanted<f64>,
    /// Requests per time, as a text with its unit.
    #[serde(default)]
    pub(crate) rate: Wanted<String>,
}

impl Change {
    /// Whether no limit is named.
    pub(crate) fn names_nothing(&self) -> bool {
        self.keys().next().is_none()
    }

    /// The keys of the file that it stands for.
    fn keys(&self) -> impl Iterator<Item = String> {
        let table = match &self.class {
            Some(class) => format!("class.{class}"),
            None => "limit".to_owned(),
        };
        let concurrency = (self.concurrency != Wanted::AsItIs).then_some("concurrency");
        let rate = (self.rate != Wanted::AsItIs).then_some("rate");
        [concurrency, rate]
            .into_iter()
            .flatten()
            .map(move |key| format!("{table}.{key}"))
    }
}

/// What is wanted of a limit.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) enum Wanted<T> {
    /// It is not named: it stays.
    #[default]
    AsItIs,
    /// `null`: none.
    None,
    /// Another one.
    Some(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Wanted<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Option::<T>::deserialize(from)?;
        Ok(value.map_or(Self::None, Self::Some))
    }
}

impl<T> Wanted<T> {
    /// Puts it in the place of the present limit.
    fn replace(self, present: &mut Option<T>) {
        match self {
            Self::AsItIs => {}
            Self::None => *present = None,
            Self::Some(wanted) => *present = Some(wanted),
        }
    }
}

impl Control {
    pub(crate) fn new(shared: Arc<Shared>, file: Option<GateFile>) -> Self {
        let origin = Origin {
            file,
            changed_since: BTreeSet::new(),
        };
        Self {
            shared,
            changing: Mutex::new(origin),
        }
    }

    /// Puts other settings in force.
    pub(crate) fn reload(&self, settings: Settings) -> Result<(), GatewayError> {
        let mut origin = self.lock();
        self.replace(settings)?;
        origin.changed_since.clear();
        Ok(())
    }

    /// Reads the file again and puts it in force.
    pub(crate) fn reload_file(&self) -> Result<Reload, FileError> {
        let mut origin = self.lock();
        let file = origin.file.as_ref().ok_or(FileError::None)?;
        let (read, settings) = file.again()?;
        let changed = file.changed_to(&read);
        self.replace(settings)
            .map_err(|error| read.refused(error))?;
        origin.file = Some(read);
        Ok(Reload {
            reloaded: true,
            changed,
            undone: std::mem::take(&mut origin.changed_since)
                .into_iter()
                .collect(),
            mistakes: Vec::new(),
        })
    }

    /// The file in force with what was learnt; nothing where the settings came from no file.
    pub(crate) fn with_learnt(
        &self,
        learnt: &LearntStatus,
        keep: Keep,
    ) -> Option<(String, Lasting)> {
        let origin = self.lock();
        with_learnt(
            origin.file.as_ref()?.text(),
            learnt,
            self.seen().limit,
            keep,
        )
    }

    /// Whoever calls this holds the lock.
    fn replace(&self, settings: Settings) -> Result<(), GatewayError> {
        let now = self.shared.current.get();
        if let Some(key) = fixed(&now.settings, &settings) {
            return Err(GatewayError::Fixed(key));
        }
        if let Some(tls) = &self.shared.tls {
            tls.reload()?;
        }
        self.put(&now, settings)?;
        if let Some(log) = &self.shared.log {
            log.reopen();
        }
        Ok(())
    }

    /// Changes limits until the next reload.
    pub(crate) fn change(&self, change: &Change) -> Result<(), String> {
        let mut origin = self.lock();
        let now = self.shared.current.get();
        let settings = changed(&now.settings, change)?;
        self.put(&now, settings)
            .map_err(|error| error.to_string())?;
        origin.changed_since.extend(change.keys());
        Ok(())
    }

    /// Panics at the worst moment for traffic: with every lock held that the admin side ever takes.
    #[cfg(test)]
    pub(crate) fn crash(&self) {
        let _origin = self.lock();
        let now = self.shared.current.get();
        let rules = rules(&now.settings).expect("these rules are in force");
        self.shared
            .flow
            .change(&rules, now.generation, || panic!("the admin side crashes"));
    }

    /// What the admission has seen.
    pub(crate) fn seen(&self) -> Seen {
        self.shared.flow.seen()
    }

    /// Lets a drain end at once.
    pub(crate) fn hurry(&self) {
        let now = self.shared.current.get();
        let mut settings = now.settings.clone();
        settings.timeouts.drain = Duration::ZERO;
        // The rules are those in force; nothing can be wrong with them.
        let _ = self.put(&now, settings);
    }

    fn put(&self, now: &Live, settings: Settings) -> Result<(), GatewayError> {
        let rules = rules(&settings)?;
        let live = Live::new(settings, Some(now), self.shared.threads)?;
        Place::check(&live)?;
        let generation = live.generation;
        self.shared
            .flow
            .change(&rules, generation, || self.shared.current.put(live));
        self.shared.counts.reloads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Origin> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first key that differs and cannot change while the gateway runs.
fn fixed(now: &Settings, wanted: &Settings) -> Option<&'static str> {
    [
        ("listen", now.listen != wanted.listen),
        ("admin", now.admin != wanted.admin),
        ("admin-token", now.admin_token != wanted.admin_token),
        (
            "admin-read-token",
            now.admin_read_token != wanted.admin_read_token,
        ),
        ("threads", now.threads != wanted.threads),
        (
            "max-connections",
            now.max_connections != wanted.max_connections,
        ),
        ("hand-over", now.hand_over != wanted.hand_over),
        ("access-log", now.access_log != wanted.access_log),
        ("[tls]", now.tls != wanted.tls),
    ]
    .into_iter()
    .find_map(|(key, differs)| differs.then_some(key))
}

fn changed(now: &Settings, change: &Change) -> Result<Settings, String> {
    let mut settings = now.clone();
    let rate = match &change.rate {
        Wanted::Some(text) => Wanted::Some(per_s(text)?),
        Wanted::None => Wanted::None,
        Wanted::AsItIs => Wanted::AsItIs,
    };
    if let Wanted::Some(limit) = change.concurrency
        && !(limit > 0.0 && limit <= 1e6)
    {
        return Err("`concurrency` is a number above 0, up to 1,000,000".to_owned());
    }
    let (rate_now, concurrency_now) = match &change.class {
        None => {
            if change.concurrency != Wanted::AsItIs {
                settings.limit.adaptive = None;
            }
            let limit = &mut settings.limit;
            (&mut limit.rate_per_s, &mut limit.concurrency)
        }
        Some(name) => {
            let mut classes = settings.classes.iter_mut();
            let class = classes.find(|class| class.name == *name);
            let class = class.ok_or_else(|| format!("there is no class `{name}` in the file"))?;
            (&mut class.rate_per_s, &mut class.concurrency)
        }
    };
    rate.replace(rate_now);
    change.concurrency.clone().replace(concurrency_now);
    Ok(settings)
}

fn per_s(text: &str) -> Result<f64, String> {
    Quantity::parse(text)
        .ok()
        .filter(|rate| rate.unit.agrees_with(Unit::PerSecond))
        .map(Quantity::base)
        .ok_or_else(|| format!("`{text}` is no rate; write it such as \"50/s\""))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const FILE: &str = "listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n\
        [limit]\nrate = \"50/s\"\nconcurrency = 4\n[[class]]\nname = \"a\"\n";

    fn after(change: &str) -> Result<Settings, String> {
        let change: Change = serde_json::from_str(change).map_err(|error| error.to_string())?;
        changed(&Settings::parse(FILE).unwrap(), &change)
    }

    #[test]
    fn what_is_not_named_stays() {
        let limits = |change| {
            let settings = after(change).unwrap();
            let class = &settings.classes[0];
            (
                settings.limit.rate_per_s,
                settings.limit.concurrency,
                class.rate_per_s,
                class.concurrency,
            )
        };
        assert_eq!(limits("{}"), (Some(50.0), Some(4.0), None, None));
        assert_eq!(
            limits(r#"{"concurrency": 7.5, "rate": "300/min"}"#),
            (Some(5.0), Some(7.5), None, None)
        );
        assert_eq!(limits(r#"{"rate": null}"#), (None, Some(4.0), None, None));
        assert_eq!(
            limits(r#"{"class": "a", "rate": "5/s", "concurrency": 1}"#),
            (Some(50.0), Some(4.0), Some(5.0), Some(1.0))
        );
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for change in [
            r#"{"concurrency": 0}"#,
            r#"{"concurrency": "4"}"#,
            r#"{"rate": "50"}"#,
            r#"{"rate": 50}"#,
            r#"{"class": "b", "rate": "5/s"}"#,
            r#"{"limit": 5}"#,
        ] {
            assert!(after(change).is_err(), "{change}");
        }
    }
}
