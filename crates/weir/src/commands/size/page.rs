//! The answer as a page: the limiting requirement along the number of servers, and the figures.

use weir_report::{CurvePoint, Drawing, Sheet, SheetTable};
use weir_size::{Range, Sizing};

pub(super) fn sheet(sizing: &Sizing) -> Sheet {
    let text = weir_size::text(sizing);
    let mut lines = text.lines();
    Sheet {
        title: lines.next().unwrap_or_default().to_owned(),
        lead: lines
            .take_while(|line| !line.is_empty())
            .map(|line| line.trim().to_owned())
            .collect(),
        drawings: vec![drawing(sizing)],
        forests: Vec::new(),
        tables: tables(&text),
        notes: sizing.notes.clone(),
        made_by: format!("weir size {} · Weir {}", sizing.run, sizing.weir),
    }
}

fn drawing(sizing: &Sizing) -> Drawing {
    let binding = &sizing.binding;
    let (factor, unit) = if binding.starts_with("cpu") {
        (100.0, "% busy")
    } else if binding.starts_with("throughput") {
        (1.0, "requests/s")
    } else {
        (1e3, "ms")
    };
    let curve = sizing.curve.iter().map(|at| {
        let Range { value, low, high } = at.value;
        CurvePoint {
            x: f64::from(at.servers),
            value: value * factor,
            low: low * factor,
            high: high * factor,
        }
    });
    Drawing {
        title: binding.clone(),
        x_title: "servers".to_owned(),
        y_title: unit.to_owned(),
        curve: curve.collect(),
        points: Vec::new(),
        goals: vec![(sizing.bound * factor, binding.clone())],
        marks: vec![(f64::from(sizing.servers), format!("{}", sizing.servers))],
    }
}

/// The parts of the text, a list of sentences each.
fn tables(text: &str) -> Vec<SheetTable> {
    let parts = text.split("\n\n").skip(1);
    parts
        .filter(|part| !part.starts_with("note: "))
        .map(|part| {
            let mut lines = part.lines();
            SheetTable {
                title: lines.next().unwrap_or_default().to_owned(),
                head: Vec::new(),
                rows: lines.map(|line| vec![line.trim().to_owned()]).collect(),
            }
        })
        .collect()
}
