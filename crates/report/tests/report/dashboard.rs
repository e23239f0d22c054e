//! The dashboard's figures are JMeter's.
//!
//! `jmeter/run.jtl` is a file that JMeter 5.6.3 wrote of a plan with redirects, embedded resources,
//! failures and transactions, an empty one among them; `jmeter/statistics.json` is what its own
//! dashboard said of that run, and the tables below stand on its page.

use serde_json::Value;
use weir_record::JtlReader;
use weir_report::{Dashboard, DashboardSettings};

fn dashboard() -> Dashboard {
    let file = include_bytes!("../jmeter/run.jtl");
    let mut dashboard = Dashboard::new(DashboardSettings {
        source: "run.jtl".to_owned(),
        ..DashboardSettings::default()
    });
    for row in JtlReader::new(&file[..]).unwrap() {
        dashboard.add(&row.unwrap());
    }
    dashboard
}

#[test]
fn every_figure_of_statistics_json_is_jmeters() {
    let ours: Value = serde_json::from_str(&dashboard().statistics_json().unwrap()).unwrap();
    let theirs: Value = serde_json::from_str(include_str!("../jmeter/statistics.json")).unwrap();
    let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
    let labels = |of: &serde_json::Map<String, Value>| -> Vec<String> {
        let mut labels: Vec<String> = of.keys().cloned().collect();
        labels.sort();
        labels
    };
    assert_eq!(labels(ours), labels(theirs));
    for (label, figures) in theirs {
        let figures = figures.as_object().unwrap();
        let own = ours[label].as_object().unwrap();
        assert_eq!(labels(own), labels(figures));
        for (name, expected) in figures {
            let found = &own[name];
            match (expected.as_f64(), found.as_f64()) {
                (Some(expected), Some(found)) => {
                    let near = (expected - found).abs() <= 1e-9 * expected.abs();
                    assert!(near, "{label} {name}: {found} instead of {expected}");
                }
                _ => assert_eq!(expected, found, "{label} {name}"),
            }
        }
    }
}

#[test]
fn the_page_has_jmeters_tables() {
    let page = dashboard().html().unwrap();
    for part in [
        // Apdex of all, errors and the errors of one label.
        "<th scope=\"row\">Total</th><td class=\"number\" data-sort=\"0.7692307692307693\">0.769</td>",
        "404/Not Found</th><td class=\"number\" data-sort=\"24\">24</td><td class=\"number\">40.00 %</td><td class=\"number\">8.33 %</td>",
        "Assertion failed</th><td class=\"number\" data-sort=\"12\">12</td><td class=\"number\">20.00 %</td>",
        "<th scope=\"row\">page</th><td class=\"number\">12</td><td class=\"number\">12</td><td class=\"kind\"><span class=\"error-kind\">12 × Assertion failed</span>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Labels are text, whatever stands in them, and nothing is fetched: the one address is in the
    // comment of the vendored script.
    assert!(!page.contains("<b>") && !page.contains("http://"));
    assert_eq!(page.matches("https://").count(), 1);
    assert!(page.contains("/*! https://github.com/leeoniya/uPlot"));
}

#[test]
fn an_empty_file_has_a_page_too() {
    let mut dashboard = Dashboard::new(DashboardSettings::default());
    assert!(dashboard.html().unwrap().contains("No sample was read."));
    assert!(dashboard.statistics_json().unwrap().contains("\"NaN\""));
}
