//! Crate edges point down only.

use std::collections::BTreeMap;

use crate::workspace::Crate;

/// The layer of each crate, by its short name; 0 is the lowest.
pub(crate) type Layers = BTreeMap<String, u32>;

/// Edges that do not lead to a lower layer, as sentences. Crates without a layer are another
/// rule's.
pub(crate) fn upward(crates: &[Crate], layers: &Layers) -> Vec<String> {
    let mut found = Vec::new();
    for from in crates {
        let Some(high) = layers.get(&from.name) else {
            continue;
        };
        for to in &from.edges {
            if let Some(low) = layers.get(to).filter(|low| *low >= high) {
                found.push(format!(
                    "`{}` (L{high}) depends on `{to}` (L{low}): edges point down only",
                    from.name
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_with(name: &str, edges: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            edges: edges.iter().map(|edge| (*edge).to_owned()).collect(),
            ..Crate::default()
        }
    }

    fn layers(of: &[(&str, u32)]) -> Layers {
        of.iter()
            .map(|(name, layer)| ((*name).to_owned(), *layer))
            .collect()
    }

    #[test]
    fn down_is_right_level_and_up_are_wrong() {
        let crates = [
            crate_with("units", &[]),
            crate_with("stats", &["plan"]),
            crate_with("plan", &["units", "report"]),
            crate_with("report", &["units", "stats"]),
        ];
        let layers = layers(&[("units", 0), ("stats", 1), ("plan", 1), ("report", 4)]);
        assert_eq!(
            upward(&crates, &layers),
            [
                "`stats` (L1) depends on `plan` (L1): edges point down only",
                "`plan` (L1) depends on `report` (L4): edges point down only",
            ]
        );
    }

    #[test]
    fn crates_outside_the_table_are_left_to_its_rule() {
        let crates = [crate_with("new", &["units"]), crate_with("units", &["new"])];
        assert!(upward(&crates, &layers(&[("units", 0)])).is_empty());
    }
}
