//! A page of drawings with one of each kind.

use weir_report::{CurvePoint, Drawing, Forest, ForestRow, PointWithInterval, Sheet, SheetTable};

pub(crate) fn sheet() -> Sheet {
    let curve = (0..=20).map(|users| {
        let value = f64::from(users) * 4.0;
        CurvePoint {
            x: f64::from(users),
            value,
            low: value * 0.9,
            high: value * 1.1,
        }
    });
    Sheet {
        title: "A <model> & its trials".to_owned(),
        lead: vec!["One paragraph.".to_owned()],
        drawings: vec![Drawing {
            title: "Throughput".to_owned(),
            x_title: "users".to_owned(),
            y_title: "requests/s".to_owned(),
            curve: curve.collect(),
            points: vec![PointWithInterval {
                x: 10.0,
                y: 41.5,
                interval: Some((40.0, 43.0)),
                says: "trial 3".to_owned(),
            }],
            goals: vec![(60.0, "required".to_owned())],
            marks: vec![(15.0, "the answer".to_owned())],
        }],
        forests: vec![Forest {
            title: "Changes".to_owned(),
            x_title: "%".to_owned(),
            margin: (-5.0, 5.0),
            rows: vec![ForestRow {
                name: "p99".to_owned(),
                value: 12.0,
                interval: (8.0, 16.0),
                outcome: "DIFFERENT".to_owned(),
            }],
        }],
        tables: vec![
            SheetTable {
                title: "Figures".to_owned(),
                head: vec!["name".to_owned(), "value".to_owned()],
                rows: vec![vec!["cpu".to_owned(), "80 %".to_owned()]],
            },
            SheetTable {
                title: "When one dies".to_owned(),
                head: Vec::new(),
                rows: vec![vec!["46 requests die with it".to_owned()]],
            },
        ],
        notes: vec!["A note.".to_owned()],
        made_by: "weir 0".to_owned(),
    }
}
