//! Who starts the server of a study, and how it was started for a trial.

use weir_explain::{ByHand, Started, Starter};
use weir_record::TrialRecord;
use weir_rig::CpuPlan;
use weir_study::TargetKind;

use crate::job::Job;

/// Why a server that Weir starts cannot be started otherwise.
const ONLY_TOMCAT: &str = "levels of `start.…` are built for [target.tomcat] only";

/// Of the study of a run that is called so.
pub(super) fn of<'s>(
    job: &'s Job,
    run: &str,
    trial: &'s TrialRecord,
    cpus: &'s CpuPlan,
) -> Starter<'s> {
    let other = |why: &str, by_hand: ByHand| Starter::Other {
        why: why.to_owned(),
        by_hand,
    };
    match &job.study.target.kind {
        TargetKind::Tomcat(tomcat) => Starter::Weir(Started {
            levels: &trial.levels,
            java_options: &tomcat.java_options,
            cpus: &cpus.target,
            load_cpus: &cpus.load,
            free_memory_bytes: weir_probe::free_memory_bytes().unwrap_or(0),
        }),
        TargetKind::External(_) => other("Weir did not start this server", ByHand::of_server(run)),
        TargetKind::SpringBoot(_) | TargetKind::Liberty(_) => {
            other(ONLY_TOMCAT, ByHand::of_study(run, "java-options"))
        }
        TargetKind::Command(_) => other(ONLY_TOMCAT, ByHand::of_study(run, "run")),
        TargetKind::Builtin(_) | TargetKind::Httpd(_) => {
            other(ONLY_TOMCAT, ByHand::without_java(run))
        }
    }
}
