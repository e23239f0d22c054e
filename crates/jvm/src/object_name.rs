//! Names of MBeans: a domain and a set of properties, in which the order does not count.
//!
//! After `javax.management.ObjectName`: `domain:key=value,key="quoted, value"`; a name is a pattern
//! when its domain or a value has `*` or `?`, or when `*` stands for further properties. Jolokia
//! writes the properties of a name in another order than it was registered with, so names are
//! compared as sets.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use wildmatch::WildMatch;

use crate::error::JvmError;

/// The name of an MBean, or a pattern of names.
#[derive(Debug, Clone)]
pub struct ObjectName {
    text: String,
    domain: String,
    properties: BTreeMap<String, String>,
    /// Whether other properties may be there too.
    open: bool,
}

impl ObjectName {
    /// The value of a property as it is written, quotes included.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    /// The value of a property without quotes and what they needed: `http-nio-8080` of
    /// `name="http-nio-8080"`.
    pub fn plain(&self, key: &str) -> Option<String> {
        self.property(key).map(unquoted)
    }

    /// The domain.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Whether it stands for any number of names.
    pub fn is_pattern(&self) -> bool {
        self.open || has_wildcard(&self.domain) || self.properties.values().any(|v| has_wildcard(v))
    }

    /// Whether a name is among those that this pattern stands for. A name that is no pattern stands
    /// for itself.
    pub fn covers(&self, name: &Self) -> bool {
        let same_keys = || self.properties.len() == name.properties.len();
        WildMatch::new(&self.domain).matches(&name.domain)
            && (self.open || same_keys())
            && self.properties.iter().all(|(key, wanted)| {
                let found = name.properties.get(key);
                found.is_some_and(|found| found == wanted || covers_value(wanted, found))
            })
    }
}

impl PartialEq for ObjectName {
    fn eq(&self, other: &Self) -> bool {
        (&self.domain, &self.properties, self.open)
            == (&other.domain, &other.properties, other.open)
    }
}

impl Eq for ObjectName {}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for ObjectName {
    type Err = JvmError;

    fn from_str(text: &str) -> Result<Self, JvmError> {
        let wrong = |why| JvmError::ObjectName {
            name: text.to_owned(),
            why,
        };
        let (domain, list) = text
            .split_once(':')
            .ok_or_else(|| wrong("there is no colon behind a domain"))?;
        let mut properties = BTreeMap::new();
        let mut open = false;
        let mut rest = list;
        loop {
            if let Some(behind) = rest
                .strip_prefix('*')
                .filter(|b| b.is_empty() || b.starts_with(','))
            {
                open = true;
                rest = behind;
            } else {
                let (key, value, behind) = property(rest).map_err(wrong)?;
                if properties
                    .insert(key.to_owned(), value.to_owned())
                    .is_some()
                {
                    return Err(wrong("a property stands twice"));
                }
                rest = behind;
            }
            match rest.strip_prefix(',') {
                Some(behind) => rest = behind,
                None if rest.is_empty() => break,
                None => return Err(wrong("something stands between a value and the next comma")),
            }
        }
        if text.contains('\n') {
            return Err(wrong("it has an end of line"));
        }
        Ok(Self {
            text: text.to_owned(),
            domain: domain.to_owned(),
            properties,
            open,
        })
    }
}

/// Key, value and what follows the first property of a list.
fn property(list: &str) -> Result<(&str, &str, &str), &'static str> {
    let (key, rest) = list
        .split_once('=')
        .filter(|(key, _)| !key.is_empty() && !key.contains([',', '*', '?', ':']))
        .ok_or("a property is not of the form key=value")?;
    let length = if rest.starts_with('"') {
        quoted_length(rest).ok_or("a quoted value has no end")?
    } else {
        rest.find(',').unwrap_or(rest.len())
    };
    let (value, behind) = rest.split_at(length);
    if value.is_empty() {
        return Err("a property has no value");
    }
    if !value.starts_with('"') && value.contains(['=', ':', '"']) {
        return Err("a value with `=`, `:` or a quote must stand in quotes");
    }
    Ok((key, value, behind))
}

/// Bytes of a value in quotes, both included.
fn quoted_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    let mut bytes = text.bytes().enumerate().skip(1);
    bytes.find_map(|(at, byte)| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
        None
    })
}

/// The text that a quoted value stands for; any other value as it is.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut plain = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => plain.extend(rest.next().map(|c| if c == 'n' { '\n' } else { c })),
            _ => plain.push(c),
        }
    }
    plain
}

/// Whether a text has `*` or `?` that is not escaped, as it may be in quotes.
fn has_wildcard(text: &str) -> bool {
    let mut escaped = false;
    let quoted = text.starts_with('"');
    text.chars().any(|c| {
        if escaped {
            escaped = false;
            return false;
        }
        escaped = quoted && c == '\\';
        matches!(c, '*' | '?')
    })
}

fn covers_value(pattern: &str, value: &str) -> bool {
    has_wildcard(pattern) && WildMatch::new(pattern).matches(value)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> ObjectName {
        text.parse().unwrap()
    }

    /// Names as servers register them.
    const CONNECTOR: &str = r#"Catalina:type=ThreadPool,name="http-nio-127.0.0.1-8080""#;
    const HIKARI: &str = "com.zaxxer.hikari:type=Pool (HikariPool-1)";
    const LIBERTY: &str = "WebSphere:type=com.ibm.ws.jca.cm.mbean.ConnectionManagerMBean,jndiName=jdbc/db,name=dataSource[db]/connectionManager[default-0]";

    #[test]
    fn the_order_of_properties_does_not_count() {
        let turned = name(r#"Catalina:name="http-nio-127.0.0.1-8080",type=ThreadPool"#);
        assert_eq!(name(CONNECTOR), turned);
        assert_ne!(name(CONNECTOR), name("Catalina:type=ThreadPool"));
        assert_eq!(turned.to_string().split(':').next(), Some("Catalina"));
        assert_eq!(
            turned.plain("name").as_deref(),
            Some("http-nio-127.0.0.1-8080")
        );
        assert_eq!(name(LIBERTY).property("jndiName"), Some("jdbc/db"));
    }

    #[test]
    fn patterns_cover_names() {
        for (pattern, covered, expected) in [
            ("Catalina:type=ThreadPool,*", CONNECTOR, true),
            ("*:type=ThreadPool,*", CONNECTOR, true),
            (r#"Catalina:type=ThreadPool,name="http-*""#, CONNECTOR, true),
            (r#"Catalina:type=ThreadPool,name="ajp-*""#, CONNECTOR, false),
            ("Catalina:type=ThreadPool", CONNECTOR, false),
            ("Catalina:type=Thread,*", CONNECTOR, false),
            ("com.zaxxer.hikari:type=Pool (*)", HIKARI, true),
            ("com.zaxxer.hikari:type=PoolConfig (*)", HIKARI, false),
            ("com.zaxxer.hikari:*", HIKARI, true),
            (
                "WebSphere:type=com.ibm.ws.jca.cm.mbean.ConnectionManagerMBean,*",
                LIBERTY,
                true,
            ),
            (HIKARI, HIKARI, true),
        ] {
            assert_eq!(name(pattern).covers(&name(covered)), expected, "{pattern}");
        }
        assert!(!name(CONNECTOR).is_pattern());
        assert!(!name(r#"a:b="\*""#).is_pattern());
        assert!(name(r#"a:b="*""#).is_pattern());
        assert!(name("a:b=c,*").is_pattern());
    }

    #[test]
    fn quotes_hold_anything() {
        let held = name(r#"a:b="x,y=\"z\"\\\n:*",c=d"#);
        assert_eq!(held.plain("b").as_deref(), Some("x,y=\"z\"\\\n:*"));
        assert_eq!(held.property("c"), Some("d"));
    }

    #[test]
    fn what_is_no_name_says_why() {
        for (text, why) in [
            ("Catalina", "colon"),
            ("a:", "key=value"),
            ("a:b", "key=value"),
            ("a:b=", "no value"),
            ("a:b=c,b=d", "twice"),
            (r#"a:b="c"#, "no end"),
            (r#"a:b="c"d"#, "between"),
            ("a:b=c=d", "in quotes"),
            ("a:b=c,", "key=value"),
            ("a:=c", "key=value"),
        ] {
            let error = text.parse::<ObjectName>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String, other in "[a:*?=,\"\\\\b]*") {
            let parsed = [text.parse::<ObjectName>(), other.parse::<ObjectName>()];
            for name in parsed.into_iter().flatten() {
                prop_assert!(name.covers(&name) || name.is_pattern());
                prop_assert_eq!(&name.to_string().parse::<ObjectName>().unwrap(), &name);
            }
        }
    }
}
