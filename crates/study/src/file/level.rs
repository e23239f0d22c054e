//! The level of a factor in a study file.

use toml::de::DeValue;
use weir_record::Level;
use weir_userfile::number;

/// A number or a text as the level of a factor.
pub(crate) fn level(value: &DeValue<'_>) -> Option<Level> {
    match value.as_str() {
        Some(text) => Some(Level::Text(text.to_owned())),
        None => number(value).map(Level::Number),
    }
}
