//! What is going to happen at known times.

use weir_userfile::Section;

use super::Spans;
use super::quantity::{factor, seconds};
use super::route::named;
use crate::network::{CenterKind, Happening, Network, Planned, SERVERS_MAX};

pub(super) fn read(root: &Section<'_>, network: &mut Network, spans: &mut Spans) {
    let Some((_, list)) = root.list("event") else {
        return;
    };
    for value in list {
        let Some(section) = root.section_of("[[event]]", value) else {
            continue;
        };
        if section.table().get("at").is_none() {
            section.missing("at", "at = \"60 s\"");
        }
        let at_s = seconds(&section, "at");
        let what = happening(&section, network);
        section.finish();
        if let (Some(at_s), Some(what)) = (at_s, what) {
            network.planned.push(Planned { at_s, what });
            spans.planned.push(value.span());
        }
    }
}

fn happening(section: &Section<'_>, network: &Network) -> Option<Happening> {
    let has = |key: &str| section.table().contains_key(key);
    if has("lose") {
        let groups = network.groups.iter().map(|group| group.name.as_str());
        let group = named(section, "lose", "group", groups);
        let servers = section.whole("servers", 1..=SERVERS_MAX);
        let back_after_s = seconds(section, "back-after");
        return Some(Happening::Lose {
            group: group?,
            servers: servers.map_or(1, toml::Spanned::into_inner),
            back_after_s,
        });
    }
    let centers = network.centers.iter().map(|center| center.name.as_str());
    let center = named(section, "of", "station or limit", centers);
    if has("speed") {
        let speed = factor(section, "speed");
        let for_s = seconds(section, "for");
        let center = center?;
        if !matches!(
            network.centers[center].kind,
            CenterKind::Queue { .. } | CenterKind::Shared { .. }
        ) {
            let says = "only a station that works has a speed";
            section.problems().add(section.span(), says);
            return None;
        }
        return Some(Happening::Speed {
            center,
            speed: speed?,
            for_s,
        });
    }
    if has("servers") {
        let servers = section.whole("servers", 1..=1_000_000_000);
        return Some(Happening::Servers {
            center: center?,
            servers: servers?.into_inner(),
        });
    }
    section.problems().add_with_help(
        section.span(),
        "an event does one thing",
        "write `lose = \"GROUP\"`, or `of = \"STATION\"` with `servers` or `speed`",
    );
    None
}
