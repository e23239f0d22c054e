//! The table that gives metrics of servers Weir's names.

mod known;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use wildmatch::WildMatch;

use super::exposition::{self, Sample};
use super::rule::{Found, Role, Rule, filled};

/// Which metrics stand for which signals. Rows that come first count first.
#[derive(Debug, Clone, PartialEq)]
pub struct NameTable {
    rows: Vec<MetricRow>,
    renamed: Vec<(String, String)>,
}

/// A metric, or several that fit, and what they are for Weir.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    /// The metric.
    pub metric: Metric,
    /// A metric that is taken off it: those in the pool less those that are free.
    pub less: Option<Metric>,
    /// A counter; the growth of the metric is divided by its growth: seconds waited per entry.
    pub per: Option<Metric>,
    /// What becomes of it.
    pub rule: Rule,
}

/// A metric by name and labels; all samples that fit are added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name; `*` stands for anything, `?` for one character.
    pub name: String,
    /// Values that labels must have, with `*` and `?`, alternatives set apart by `|`.
    pub labels: BTreeMap<String, String>,
}

impl Metric {
    /// A metric with any labels.
    pub fn any(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            labels: BTreeMap::new(),
        }
    }

    /// This name, only with this value of a label.
    #[must_use]
    pub fn with(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(label.into(), value.into());
        self
    }
}

impl MetricRow {
    /// A metric that needs no other.
    pub fn new(metric: Metric, rule: Rule) -> Self {
        Self {
            metric,
            less: None,
            per: None,
            rule,
        }
    }

    fn operands(&self) -> impl Iterator<Item = (Role, &Metric)> {
        [
            (Role::Value, Some(&self.metric)),
            (Role::Less, self.less.as_ref()),
            (Role::Per, self.per.as_ref()),
        ]
        .into_iter()
        .filter_map(|(role, metric)| Some((role, metric?)))
    }
}

impl Default for NameTable {
    /// The names that are known: Weir's own, and those of common servers and exporters.
    fn default() -> Self {
        Self {
            rows: known::rows(),
            renamed: Vec::new(),
        }
    }
}

impl NameTable {
    /// These rows, before those of the table.
    #[must_use]
    pub fn with_rows(mut self, rows: impl IntoIterator<Item = MetricRow>) -> Self {
        self.rows.splice(0..0, rows);
        self
    }

    /// What the table would call one stage gets the name of another: `pool.HikariPool-1` →
    /// `pool.db`.
    #[must_use]
    pub fn renaming(mut self, stage: impl Into<String>, as_stage: impl Into<String>) -> Self {
        self.renamed.push((stage.into(), as_stage.into()));
        self
    }

    /// Its rows.
    pub fn rows(&self) -> &[MetricRow] {
        &self.rows
    }

    fn final_name(&self, signal: String) -> String {
        let renamed = self.renamed.iter().find_map(|(stage, as_stage)| {
            let quantity = signal.strip_prefix(stage.as_str())?;
            quantity
                .starts_with('.')
                .then(|| format!("{as_stage}{quantity}"))
        });
        renamed.unwrap_or(signal)
    }
}

/// A table made ready for pages of thousands of samples.
#[derive(Debug)]
pub(crate) struct NameIndex {
    table: NameTable,
    by_name: HashMap<String, Vec<Operand>>,
    by_pattern: Vec<(WildMatch, Operand)>,
}

#[derive(Debug, Clone)]
struct Operand {
    row: usize,
    role: Role,
    labels: Vec<(String, Vec<WildMatch>)>,
}

impl NameIndex {
    pub(crate) fn new(table: NameTable) -> Self {
        let mut by_name: HashMap<String, Vec<Operand>> = HashMap::new();
        let mut by_pattern = Vec::new();
        for (row, role, metric) in operands(&table) {
            let alternatives = |value: &String| value.split('|').map(WildMatch::new).collect();
            let labels = metric.labels.iter();
            let operand = Operand {
                row,
                role,
                labels: labels
                    .map(|(label, value)| (label.clone(), alternatives(value)))
                    .collect(),
            };
            if metric.name.contains(['*', '?']) {
                by_pattern.push((WildMatch::new(&metric.name), operand));
            } else {
                by_name
                    .entry(metric.name.clone())
                    .or_default()
                    .push(operand);
            }
        }
        Self {
            table,
            by_name,
            by_pattern,
        }
    }

    pub(crate) fn rules(&self) -> Vec<Rule> {
        self.table.rows.iter().map(|row| row.rule.clone()).collect()
    }

    /// The metric of a row.
    pub(crate) fn metric(&self, row: usize) -> &str {
        &self.table.rows[row].metric.name
    }

    /// Everything on a page that the table has a name for.
    pub(crate) fn find(&self, page: &str) -> Vec<Found> {
        let mut found = Vec::new();
        for sample in exposition::samples(page) {
            let by_name = self.by_name.get(sample.name).into_iter().flatten();
            let by_pattern = self.by_pattern.iter();
            let by_pattern = by_pattern
                .filter(|(pattern, _)| pattern.matches(sample.name))
                .map(|(_, operand)| operand);
            for operand in by_name.chain(by_pattern).filter(|o| o.fits(&sample)) {
                let signal = &self.table.rows[operand.row].rule.signal;
                let label = |name: &str| sample.label(name).map(Cow::into_owned);
                if let Some(signal) = filled(signal, label) {
                    found.push(Found {
                        rule: operand.row,
                        role: operand.role,
                        signal: self.table.final_name(signal),
                        figure: sample.value,
                    });
                }
            }
        }
        found
    }
}

fn operands(table: &NameTable) -> impl Iterator<Item = (usize, Role, &Metric)> {
    let rows = table.rows.iter().enumerate();
    rows.flat_map(|(at, row)| row.operands().map(move |(role, metric)| (at, role, metric)))
}

impl Operand {
    fn fits(&self, sample: &Sample<'_>) -> bool {
        self.labels.iter().all(|(label, wanted)| {
            let value = sample.label(label);
            value.is_some_and(|value| wanted.iter().any(|wanted| wanted.matches(&value)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: NameTable, page: &str) -> Vec<(String, f64)> {
        let found = NameIndex::new(table).find(page);
        found.into_iter().map(|f| (f.signal, f.figure)).collect()
    }

    fn table(rows: Vec<MetricRow>) -> NameTable {
        NameTable {
            rows,
            renamed: Vec::new(),
        }
    }

    #[test]
    fn samples_fit_by_name_and_labels() {
        let busy = Metric::any("app_*_busy")
            .with("state", "run*|wait")
            .with("id", "?");
        let table = table(vec![MetricRow::new(busy, Rule::level("threads.occupancy"))]);
        for (sample, fits) in [
            (r#"app_web_busy{state="running",id="1"} 5"#, true),
            (r#"app_web_busy{state="wait",id="1"} 5"#, true),
            (r#"app_web_busy{state="waits",id="1"} 5"#, false),
            (r#"app_web_busy{state="wait",id="12"} 5"#, false),
            (r#"app_web_busy{state="wait"} 5"#, false),
            (r#"app_web_idle{state="wait",id="1"} 5"#, false),
        ] {
            assert_eq!(
                names(table.clone(), sample).len(),
                usize::from(fits),
                "{sample}"
            );
        }
    }

    #[test]
    fn a_renamed_stage_keeps_its_quantities() {
        let row = MetricRow::new(Metric::any("in_use"), Rule::level("pool.{pool}.occupancy"));
        let table = table(vec![row]).renaming("pool.HikariPool-1", "pool.db");
        let page = "in_use{pool=\"HikariPool-1\"} 1\nin_use{pool=\"HikariPool-10\"} 2\n";
        let expected = [
            ("pool.db.occupancy", 1.0),
            ("pool.HikariPool-10.occupancy", 2.0),
        ];
        let found = names(table, page);
        let found: Vec<(&str, f64)> = found.iter().map(|(name, v)| (name.as_str(), *v)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_of_the_user_come_first() {
        let row = MetricRow::new(Metric::any("mine"), Rule::level("threads.limit"));
        let table = NameTable::default().with_rows([row.clone()]);
        assert_eq!(table.rows()[0], row);
        assert!(table.rows().len() > 50);
    }
}
