//! `cpu-from`: where the backends' CPU is read.

use std::net::IpAddr;

use http::Uri;
use toml::Spanned;
use weir_metric::CpuSet;
use weir_probe::MetricsUrl;
use weir_userfile::{Section, cannot, number};

use crate::settings::CpuFrom;

const PLACES: [&str; 4] = ["cpus", "pid", "cgroup", "prometheus"];
/// CPUs of the largest machines.
const CPUS_MAX: f64 = 8192.0;

pub(super) fn cpu_from(section: &Section<'_>) -> Option<CpuFrom> {
    let table = section.table();
    let named: Vec<&str> = PLACES
        .into_iter()
        .filter(|place| table.contains_key(*place))
        .collect();
    section.know(&PLACES);
    section.know(&["cpu-count"]);
    let [place] = named.as_slice() else {
        section.finish();
        section.problems().add_with_help(
            section.span(),
            "`cpu-from` names exactly one place",
            "write `cpu-from = { cpus = \"0-1\" }`, or `pid`, `cgroup` or `prometheus`; without `cpu-from`, Weir finds the processes \
             that listen on the backends' ports",
        );
        return None;
    };
    let from = match *place {
        "cpus" => {
            let cpus = section.parsed("cpus", str::parse::<CpuSet>);
            cpus.map(|cpus| CpuFrom::Cpus(cpus.into_inner()))
        }
        "pid" => {
            let pid = section.whole("pid", 1..=i32::MAX as u32);
            pid.map(|pid| CpuFrom::Pid(pid.into_inner()))
        }
        "cgroup" => cgroup(section),
        _ => page(section),
    };
    if let (Some(count), true) = (table.get("cpu-count"), *place != "prometheus") {
        section.problems().add_with_help(
            count.span(),
            format!("`cpu-count` says how many CPUs a page of metrics is about; `{place}` tells by itself"),
            "leave `cpu-count` out",
        );
    }
    section.finish();
    from
}

fn cgroup(section: &Section<'_>) -> Option<CpuFrom> {
    let path = section.text("cgroup")?;
    if path.get_ref().trim_matches('/').is_empty() {
        section.problems().add_with_help(
            path.span(),
            "`cgroup` names no group: everything on the machine is in the one around all",
            "write the group of the server, such as `cgroup = \"system.slice/tomcat.service\"`; `/proc/PID/cgroup` tells it",
        );
        return None;
    }
    Some(CpuFrom::Cgroup(path.into_inner().into()))
}

fn page(section: &Section<'_>) -> Option<CpuFrom> {
    let cpus = section.value("cpu-count").and_then(|value| {
        let count = number(value.get_ref()).filter(|count| *count > 0.0 && *count <= CPUS_MAX);
        count.or_else(|| {
            section.wrong_type(
                "cpu-count",
                value,
                "a number of CPUs above 0, such as 4 or 1.5",
            )
        })
    });
    let url = section.text("prometheus")?;
    if let Err(says) = check(&url) {
        section.problems().add_with_help(
            url.span(),
            says,
            "write where the page is, on this machine or a private network: `prometheus = \"http://10.0.0.5:9100/metrics\"`",
        );
        return None;
    }
    let url = url.into_inner();
    Some(CpuFrom::Prometheus { url, cpus })
}

/// What is wrong with the address of a page. A name is looked up when it is asked, not here.
fn check(url: &Spanned<String>) -> Result<(), String> {
    let typed = url.get_ref();
    let uri: Option<Uri> = typed.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = !host.is_empty() && address.parse::<IpAddr>().is_err();
    if is_name && typed.starts_with("http://") {
        return Ok(());
    }
    typed
        .parse::<MetricsUrl>()
        .map(drop)
        .map_err(|error| cannot(&error))
}
