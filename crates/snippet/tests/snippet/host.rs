//! A world for scripts, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use jiff::tz::TimeZone;
use weir_snippet::{DateParts, DateWriter, Host, SharedValue, Value, WriteMode};

#[derive(Default)]
pub(crate) struct World {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) objects: BTreeMap<String, Value>,
    pub(crate) properties: BTreeMap<String, String>,
    shared: BTreeMap<String, SharedValue>,
    pub(crate) log: Vec<String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    random: u64,
}

impl Host for World {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.objects.remove(name);
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone().into_iter().collect()
    }

    fn object(&self, name: &str) -> Option<Value> {
        self.objects.get(name).cloned()
    }

    fn set_object(&mut self, name: &str, value: Value) {
        self.objects.insert(name.to_owned(), value);
    }

    fn property(&self, name: &str) -> Option<String> {
        self.properties.get(name).cloned()
    }

    fn properties(&self) -> Vec<(String, String)> {
        self.properties.clone().into_iter().collect()
    }

    fn set_property(&mut self, name: &str, value: &str) -> Option<String> {
        self.shared.remove(name);
        self.properties.insert(name.to_owned(), value.to_owned())
    }

    fn shared_property(&self, name: &str) -> Option<SharedValue> {
        self.shared.get(name).copied()
    }

    fn share_property(&mut self, name: &str, value: SharedValue) {
        self.properties.remove(name);
        self.shared.insert(name.to_owned(), value);
    }

    fn remove_property(&mut self, name: &str) {
        self.properties.remove(name);
        self.shared.remove(name);
    }

    fn log(&mut self, level: &str, text: &str) {
        self.log.push(format!("{level} {text}"));
    }

    fn epoch_ms(&self) -> i64 {
        1_790_000_000_000
    }

    fn random(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Knows years, months and days of 1970 only.
    fn format_date(&self, epoch_ms: i64, pattern: &str, _: Option<&str>) -> Result<String, String> {
        let year = 1970 + epoch_ms / (365 * 86_400_000);
        match pattern {
            "yyyy" => Ok(year.to_string()),
            "yyyy-MM-dd HH:mm:ss" => Ok(format!("{year}-01-01 00:00:00")),
            "yyyy-MM-dd" => Ok(format!("{year}-01-01")),
            other => Err(format!("{other} is not known here")),
        }
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn format_parts(&self, _: &DateParts, pattern: &str) -> Result<Option<String>, String> {
        Err(format!("{pattern} is not known here"))
    }

    fn parse_parts(&self, _: &str, pattern: &str) -> Result<Option<DateParts>, String> {
        Err(format!("{pattern} is not known here"))
    }

    fn date_writer(&self) -> DateWriter {
        Rc::new(|epoch_ms| format!("date {epoch_ms}"))
    }

    fn parse_date(&self, text: &str, pattern: &str, _: Option<&str>) -> Option<i64> {
        let year: i64 = (pattern == "yyyy").then(|| text.parse().ok()).flatten()?;
        Some((year - 1970) * 365 * 86_400_000)
    }

    fn user(&self) -> u32 {
        1
    }

    fn iteration(&self) -> u64 {
        1
    }

    fn group(&self) -> Arc<str> {
        "g".into()
    }

    fn directory(&self) -> String {
        "/plans".to_owned()
    }

    fn read_file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(bytes.clone())
    }

    fn write_file(&mut self, path: &str, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let file = self.files.entry(path.to_owned()).or_default();
        if mode == WriteMode::Replace {
            file.clear();
        }
        file.extend(bytes);
        Ok(())
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.folders.contains(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.folders.contains(path)
    }

    fn file_length(&self, path: &str) -> io::Result<u64> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(bytes.len() as u64)
    }

    fn make_folders(&mut self, path: &str) -> io::Result<()> {
        let ends = path.char_indices().filter(|(_, c)| *c == '/');
        let ends = ends.map(|(at, _)| at).chain([path.len()]);
        self.folders.extend(ends.map(|end| path[..end].to_owned()));
        Ok(())
    }

    fn remove_file(&mut self, path: &str) -> io::Result<()> {
        let is_gone = self.files.remove(path).is_some() || self.folders.remove(path);
        is_gone.then_some(()).ok_or(io::ErrorKind::NotFound.into())
    }
}
