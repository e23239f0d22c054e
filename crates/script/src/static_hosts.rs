//! Names that a plan gives addresses to itself.

use weir_plan::DnsCache;

use crate::Text;

/// What stands for a host in a plan's table: addresses, or names that have some; `None` if the
/// table does not know the host and the system is asked.
///
/// JMeter 5.6.3 compares in two ways: a name that is written in another case is known and has no
/// address.
pub fn static_addresses<'a>(table: &'a DnsCache<Text>, host: &str) -> Option<Vec<&'a str>> {
    let hosts = &table.hosts;
    let names = || {
        let names = hosts.iter().map(|(name, _)| name.constant());
        names.map(Option::unwrap_or_default)
    };
    names().find(|name| name.eq_ignore_ascii_case(host))?;
    let place = names().position(|name| name == host);
    let addresses = place.and_then(|place| hosts[place].1.constant());
    let addresses = addresses.unwrap_or_default().split(',').map(str::trim);
    Some(addresses.filter(|address| !address.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use weir_plan::ElementId;

    use super::*;

    #[test]
    fn tables_know_names_as_they_are_written() {
        let entry = |name: &str, addresses: &str| (Text::literal(name), Text::literal(addresses));
        let table = DnsCache {
            id: ElementId::default(),
            hosts: vec![
                entry("a.test", "127.0.0.1 , ::1,"),
                entry("a.test", "10.0.0.1"),
            ],
            clear_each_iteration: false,
        };
        let known = static_addresses(&table, "a.test");
        assert_eq!(known, Some(vec!["127.0.0.1", "::1"]));
        assert_eq!(static_addresses(&table, "A.test"), Some(Vec::new()));
        assert_eq!(static_addresses(&table, "b.test"), None);
    }
}
