//! Who gets which CPUs.

use weir_metric::CpuSet;
use weir_record::CpuScope;

/// The CPUs of the target and those of the load generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuPlan {
    /// CPUs that the target may use.
    pub target: CpuSet,
    /// CPUs of the load generator and of the watch.
    pub load: CpuSet,
}

impl CpuPlan {
    /// Divides the CPUs that this process may use.
    ///
    /// The target gets those asked for, else all but a quarter; the load generator gets the others,
    /// at least one. Where nothing is left for the load generator, both share all of the
    /// target's CPUs, and [`Self::scope`] says so.
    pub fn divide(available: &CpuSet, asked_for: Option<&CpuSet>) -> Self {
        let target = asked_for.cloned().unwrap_or_else(|| {
            let for_load = available.count().div_ceil(4);
            let for_target = available.count().saturating_sub(for_load).max(1);
            CpuSet::new(available.iter().take(for_target)).unwrap_or_else(|| available.clone())
        });
        let load = available
            .without(&target)
            .unwrap_or_else(|| available.clone());
        Self { target, load }
    }

    /// What a CPU figure of the target's CPUs counts.
    pub fn scope(&self) -> CpuScope {
        if self.target.in_common(&self.load).is_some() {
            CpuScope::SharedCpus
        } else {
            CpuScope::OwnCpus
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn divide(available: &str, asked_for: Option<&str>) -> (String, String, CpuScope) {
        let available: CpuSet = available.parse().unwrap();
        let asked_for: Option<CpuSet> = asked_for.map(|text| text.parse().unwrap());
        let plan = CpuPlan::divide(&available, asked_for.as_ref());
        (plan.target.to_string(), plan.load.to_string(), plan.scope())
    }

    #[test]
    fn target_and_load_keep_apart_where_they_can() {
        use CpuScope::{OwnCpus, SharedCpus};
        for (available, asked_for, target, load, scope) in [
            ("0-1", None, "0", "1", OwnCpus),
            ("0-1", Some("1"), "1", "0", OwnCpus),
            ("0-7", None, "0-5", "6-7", OwnCpus),
            ("0-3", Some("0"), "0", "1-3", OwnCpus),
            ("0", None, "0", "0", SharedCpus),
            ("0-1", Some("0-1"), "0-1", "0-1", SharedCpus),
        ] {
            assert_eq!(
                divide(available, asked_for),
                (target.to_owned(), load.to_owned(), scope),
                "{available} {asked_for:?}"
            );
        }
    }
}
