//! What all users of a test share and may change: properties, open files, the log.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard};

use jiff::tz::TimeZone;
use weir_reach::{Reach, is_refusal};
use weir_snippet::SharedValue;

use crate::Properties;
use crate::function::{CsvFiles, XmlNodes};
use crate::scripting::Kept;

/// Takes what `__log` and `__logn` write: the level as written in the plan, and the text.
pub type LogSink = Box<dyn Fn(&str, &str) + Send + Sync>;

/// One for each test, behind one `Arc`.
#[derive(Default)]
pub(crate) struct Live {
    properties: RwLock<Properties>,
    /// Properties that scripts have set to what is no text.
    shared: RwLock<BTreeMap<String, SharedValue>>,
    /// The plan's file.
    plan: Option<PathBuf>,
    /// The files that the plan may touch.
    reach: Reach,
    zone: Option<TimeZone>,
    csv: Mutex<CsvFiles>,
    xml: Mutex<XmlNodes>,
    scripts: Mutex<Kept>,
    log: OnceLock<LogSink>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan.as_deref();
        f.debug_struct("Live")
            .field("plan", &plan)
            .finish_non_exhaustive()
    }
}

impl Live {
    /// The time zone is the one that the property `user.timezone` names, as Java's system property
    /// of this name does, and else the machine's.
    pub(crate) fn new(properties: Properties, plan: Option<&Path>, reach: Reach) -> Arc<Self> {
        let zone = properties.get("user.timezone");
        let zone = zone.and_then(|name| TimeZone::get(name).ok());
        Arc::new(Self {
            zone: Some(zone.unwrap_or_else(TimeZone::system)),
            properties: RwLock::new(properties),
            plan: plan.map(Path::to_path_buf),
            reach,
            ..Self::default()
        })
    }

    /// Passes on the value of a property without a copy.
    pub(crate) fn with_property<T>(&self, name: &str, read: impl FnOnce(Option<&str>) -> T) -> T {
        // A user that ended in a panic leaves whole values behind.
        let properties = self.properties.read();
        read(properties.unwrap_or_else(PoisonError::into_inner).get(name))
    }

    pub(crate) fn property(&self, name: &str) -> Option<String> {
        self.with_property(name, |value| value.map(str::to_owned))
    }

    /// Sets a property for everyone; the answer is its earlier value.
    pub(crate) fn set_property(&self, name: &str, value: &str) -> Option<String> {
        let properties = self.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        let earlier = properties.get(name).map(str::to_owned);
        properties.set(name, value);
        self.shared_mut().remove(name);
        earlier
    }

    /// The value of a property that is no text.
    pub(crate) fn shared_property(&self, name: &str) -> Option<SharedValue> {
        let shared = self.shared.read();
        shared
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .copied()
    }

    /// Sets a property to what is no text: whoever asks for a text finds none.
    pub(crate) fn share_property(&self, name: &str, value: SharedValue) {
        let properties = self.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.remove(name);
        self.shared_mut().insert(name.to_owned(), value);
    }

    /// Takes a property away from everyone.
    pub(crate) fn remove_property(&self, name: &str) {
        let properties = self.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.remove(name);
        self.shared_mut().remove(name);
    }

    /// To be held for a moment, and only with the texts.
    fn shared_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, SharedValue>> {
        let shared = self.shared.write();
        shared.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn time_zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// The name of the plan's file, without its directory.
    pub(crate) fn plan_name(&self) -> Option<&str> {
        self.plan.as_deref()?.file_name()?.to_str()
    }

    /// The files that the plan may touch.
    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Says in the log that a file could not be had, where it was refused.
    pub(crate) fn log_refusal(&self, who: &str, error: &io::Error) {
        if is_refusal(error) {
            self.log("WARN", &format!("{who}: {error}"));
        }
    }

    pub(crate) fn csv_files(&self) -> MutexGuard<'_, CsvFiles> {
        self.csv.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn xml_nodes(&self) -> MutexGuard<'_, XmlNodes> {
        self.xml.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn scripts(&self) -> MutexGuard<'_, Kept> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All properties as they are now.
    pub(crate) fn properties(&self) -> Vec<(String, String)> {
        let properties = self.properties.read();
        let properties = properties.unwrap_or_else(PoisonError::into_inner);
        let all = properties.iter();
        all.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// The first sink stays.
    pub(crate) fn log_to(&self, sink: LogSink) {
        let _ = self.log.set(sink);
    }

    pub(crate) fn log(&self, level: &str, text: &str) {
        if let Some(sink) = self.log.get() {
            sink(level, text);
        }
    }
}
