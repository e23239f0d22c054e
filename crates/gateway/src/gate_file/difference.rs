//! In which keys two texts of a gateway's file differ.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::Table;

use crate::gate_file::Changed;

/// Keys whose values differ, in alphabetical order. Both texts have been read before, so that both
/// are TOML.
pub(crate) fn differences(before: &str, now: &str) -> Vec<Changed> {
    let (mut before, mut now) = (keys(before), keys(now));
    now.retain(|key, value| {
        let is_same = before.get(key) == Some(value);
        if is_same {
            before.remove(key);
        }
        !is_same
    });
    let mut changed: Vec<Changed> = now
        .into_iter()
        .map(|(key, to)| Changed {
            from: before.remove(&key),
            to: Some(to),
            key,
        })
        .collect();
    changed.extend(before.into_iter().map(|(key, from)| Changed {
        key,
        from: Some(from),
        to: None,
    }));
    changed.sort_by(|left, right| left.key.cmp(&right.key));
    changed
}

/// Every value by its key with the tables around it.
fn keys(text: &str) -> BTreeMap<String, Value> {
    let mut keys = BTreeMap::new();
    for (key, value) in text.parse::<Table>().unwrap_or_default() {
        match value {
            toml::Value::Array(list) if key == "class" => named(&key, "name", list, &mut keys),
            toml::Value::Array(list) if key == "key" => named(&key, "by", list, &mut keys),
            value => put(key, value, &mut keys),
        }
    }
    keys
}

/// Tables go by their names, or by what stands for it; their order is a value of its own, as the
/// first class that matches wins.
fn named(of: &str, or: &str, tables: Vec<toml::Value>, keys: &mut BTreeMap<String, Value>) {
    let mut order = Vec::new();
    for table in tables {
        let name = table.get("name").or(table.get(or));
        let name = name.and_then(toml::Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        order.push(Value::from(name.clone()));
        put(format!("{of}.{name}"), table, keys);
    }
    keys.insert(of.to_owned(), Value::Array(order));
}

fn put(key: String, value: toml::Value, keys: &mut BTreeMap<String, Value>) {
    match value {
        toml::Value::Table(table) => {
            for (inner, value) in table {
                put(format!("{key}.{inner}"), value, keys);
            }
        }
        // What TOML can say and JSON cannot, a number that is none, stands in no file that was
        // read.
        value => {
            keys.insert(key, serde_json::to_value(value).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_with_its_table() {
        let before = "listen = \"a\"\n[limit]\nrate = \"50/s\"\nmax-queue = 5\n\
            [[class]]\nname = \"x\"\nconcurrency = 4\n[[class]]\nname = \"y\"\n";
        let now = "listen = \"a\" # the same\n[limit]\nrate = \"60/s\"\nmax-wait = \"1s\"\n\
            [[class]]\nname = \"y\"\n[[class]]\nname = \"x\"\nmatch = { path = \"/x\" }\nconcurrency = 4\n";
        let changed: Vec<String> = differences(before, now)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            changed,
            [
                "class: [\"x\",\"y\"] → [\"y\",\"x\"]",
                "class.x.match.path: not there → \"/x\"",
                "limit.max-queue: 5 → not there",
                "limit.max-wait: not there → \"1s\"",
                "limit.rate: \"50/s\" → \"60/s\"",
            ]
        );
        assert_eq!(differences(now, now), []);
    }
}
