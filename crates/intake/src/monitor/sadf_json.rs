//! `sadf -j`: JSON, a list of moments with a block for each kind of figures.
//!
//! Its names are those of sar's columns without `%` and `/s`.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};
use weir_record::Reading;

use super::cpu::CpuTimes;
use super::names::{Meaning, of_sar};
use super::{Monitor, Row, When};

/// What a file begins with.
pub(super) const BEGIN: &str = "{\"sysstat\":";

#[derive(Deserialize)]
struct File {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Host {
    nodename: String,
    number_of_cpus: Option<u32>,
    #[serde(default)]
    statistics: Vec<Moment>,
    #[serde(default)]
    restarts: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Moment {
    timestamp: Option<Timestamp>,
    #[serde(default)]
    cpu_load: Vec<Map<String, Value>>,
    #[serde(default)]
    process_and_context_switch: Map<String, Value>,
    #[serde(default)]
    queue: Map<String, Value>,
    #[serde(default)]
    network: Network,
}

#[derive(Deserialize)]
struct Timestamp {
    date: String,
    time: String,
    /// 1: in UTC; 0: as the machine's clock showed.
    #[serde(default)]
    utc: u8,
}

#[derive(Default, Deserialize)]
struct Network {
    #[serde(default, rename = "net-dev")]
    devices: Vec<Map<String, Value>>,
    #[serde(default, rename = "net-tcp")]
    tcp: Map<String, Value>,
    #[serde(default, rename = "net-etcp")]
    errors: Map<String, Value>,
    #[serde(default, rename = "net-sock")]
    sockets: Map<String, Value>,
}

pub(super) fn read(text: &str, monitor: &mut Monitor) -> Result<(), String> {
    let File { sysstat } = serde_json::from_str(text)
        .map_err(|error| format!("it is JSON of sadf -j, but not as that writes it: {error}"))?;
    let [host] = &sysstat.hosts[..] else {
        return Err(format!("it tells of {} machines", sysstat.hosts.len()));
    };
    monitor.host = Some(host.nodename.clone());
    monitor.cpus = host.number_of_cpus;
    if !host.restarts.is_empty() {
        let note = format!(
            "the machine was started anew {} time(s)",
            host.restarts.len()
        );
        monitor.notes.push(note);
    }
    for (at, moment) in host.statistics.iter().enumerate() {
        match row(moment, monitor) {
            Some(row) => monitor.rows.push(row),
            None => monitor
                .broken
                .add(|| format!("moment {} has no time", at + 1)),
        }
    }
    Ok(())
}

fn row(moment: &Moment, monitor: &mut Monitor) -> Option<Row> {
    let when = moment.timestamp.as_ref().and_then(when)?;
    let mut values = Reading::new();
    let all = moment.cpu_load.iter().find(|of| {
        let name = of.get("cpu");
        name.is_some_and(|name| name == "all" || name == "-1")
    });
    let mut cpu = CpuTimes::default();
    for (column, value) in all.into_iter().flatten() {
        if let Some(Meaning::Cpu(kind)) = of_sar(&format!("%{column}")) {
            cpu.add(kind, value.as_f64()?);
        }
    }
    cpu.put(&mut values);
    let network = &moment.network;
    let blocks = [
        &moment.process_and_context_switch,
        &moment.queue,
        &network.tcp,
        &network.errors,
        &network.sockets,
    ];
    let own = |of: &&Map<String, Value>| of.get("iface").is_none_or(|name| name != "lo");
    let devices = network.devices.iter().filter(own);
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (column, value) in blocks.into_iter().chain(devices).flatten() {
        let Some(value) = value.as_f64() else {
            continue;
        };
        match of_sar(&format!("{column}/s")).or_else(|| of_sar(column)) {
            Some(Meaning::Signal(name, factor)) => {
                values.insert(name.to_owned(), value * factor);
            }
            Some(Meaning::Sum(name, factor)) => *sums.entry(name).or_default() += value * factor,
            Some(Meaning::Cpu(_)) => {}
            None => {
                monitor.left_out.insert(column.clone());
            }
        }
    }
    values.extend(sums.into_iter().map(|(name, sum)| (name.to_owned(), sum)));
    Some(Row { when, values })
}

fn when(of: &Timestamp) -> Option<When> {
    let local: DateTime = format!("{}T{}", of.date, of.time).parse().ok()?;
    if of.utc == 0 {
        return Some(When::Local(local));
    }
    let moment = local.to_zoned(TimeZone::UTC).ok()?;
    Some(When::Epoch(moment.timestamp().as_second()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use jiff::civil::date;

    use super::*;

    const JSON: &[u8] = include_bytes!("../../tests/recorded/sadf.json");
    const TEXT: &[u8] = include_bytes!("../../tests/recorded/sadf-of-json.csv");

    fn of(content: &[u8]) -> Monitor {
        Monitor::read(content, "a", date(2026, 11, 28)).unwrap()
    }

    /// sadf 12.6.1 printed one recording in both forms.
    #[test]
    fn json_and_semicolons_say_the_same() {
        let (json, text) = (of(JSON), of(TEXT));
        assert_eq!(json.rows, text.rows);
        assert_eq!(json.rows.len(), 3);
        assert_eq!((json.host(), json.cpus()), (text.host(), Some(2)));
    }

    #[test]
    fn what_is_not_whole_is_said() {
        let half = &JSON[..JSON.len() / 2];
        let error = Monitor::read(half, "a", date(2026, 11, 28)).unwrap_err();
        assert!(error.to_string().contains("EOF"), "{error}");
    }
}
