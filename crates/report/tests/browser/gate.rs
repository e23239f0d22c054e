//! The live page of a gateway: what it draws of readings whose figures are known.

use serde::Deserialize;
use weir_report::gate_html;

use crate::chromium::{View, browser, look};

/// A gateway that answers 100 requests a second of `light`: 98 within 10 to 20 ms and two within
/// half a second to one, 95 with 200, three with 404 and two with 503. `other` has none.
const ANSWERS: &str = r#"
    const standing = (count) => ({
      limit: 8, in_flight: 1, queued: 0, offered: count, admitted: count, waited: 0, wait_s: 0, wait_max_s: 0, left: 0,
      finished: count, refused: { rate: 0, concurrency: 0, queue_full: 0, wait_too_long: 0, expired: 0 },
    });
    const times = (s) => ({ response: { count: 100 * s, sum_s: 0, buckets: [[0.01, 0], [0.02, 98 * s], [0.5, 0], [1, 2 * s], [null, 0]] } });
    let s = 0;
    window.fetch = async () => {
      s += 1;
      const classes = [
        { name: "light", standing: standing(100 * s), codes: { 200: 95 * s, 404: 3 * s, 503: 2 * s }, times: times(s) },
        { name: "other", standing: standing(0), codes: {}, times: times(0) },
      ];
      const status = { uptime_s: s, draining: false, all: standing(100 * s), classes, backends: [], connections: { open: 1 } };
      return { ok: true, status: 200, json: async () => status };
    };
    const seen = () => {
      const { charts } = window.weirGate;
      const last = (id) => charts[id].data.slice(1).map((values) => values.at(-1));
      const legend = (id) => document.getElementById(`chart-${id}`).innerText;
      const rows = [...document.querySelectorAll('#class-rows tr')].map((row) => [...row.children].map((cell) => cell.textContent));
      parent.postMessage(JSON.stringify({ times: last("times"), codes: last("codes"), legend: legend("times"), rows }), "*");
    };
    addEventListener("load", () => setTimeout(seen, 14500));
"#;

#[derive(Debug, Deserialize)]
struct Seen {
    times: Vec<Option<f64>>,
    codes: Vec<Option<f64>>,
    legend: String,
    rows: Vec<Vec<String>>,
}

#[test]
fn the_page_of_the_gate_shows_times_and_codes() {
    let Some(browser) = browser("the_page_of_the_gate_shows_times_and_codes") else {
        return;
    };
    let page = gate_html().unwrap();
    let seen: Seen = look(&browser, ("gate", &page), ANSWERS, View::light(1400));
    let near = |value: Option<f64>, expected: f64| {
        assert!(
            value.is_some_and(|value| (value - expected).abs() < 1e-6),
            "{expected}: {seen:?}"
        );
    };
    // 50 of the 98 in the second bucket, and one of the two in the fourth.
    near(seen.times[0], 10.0 + 10.0 * 50.0 / 98.0);
    near(seen.times[1], 750.0);
    for (value, expected) in seen.codes.iter().zip([95.0, 0.0, 3.0, 2.0]) {
        near(*value, expected);
    }
    // Nobody points at the chart.
    assert!(seen.legend.contains("15.1"), "{seen:?}");
    assert!(seen.legend.contains("750"), "{seen:?}");
    let light = seen.rows.iter().find(|row| row[0] == "light").unwrap();
    assert_eq!(light[8..10], ["15.1", "750"]);
    let other = seen.rows.iter().find(|row| row[0] == "other").unwrap();
    assert_eq!(other[8..10], ["–", "–"], "nobody asked");
}
