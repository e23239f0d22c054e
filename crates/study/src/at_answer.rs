//! A trial at the answer itself, in which all that was asked holds: the check of a largest rate,
//! and of an answer that needs a limit raised.

use weir_record::{Role, TrialRecord};

use crate::check::at_answer::judge;
use crate::confirm::Confirmed;
use crate::file::FindSpec;
use crate::learned::Learned;
use crate::search::bounded::Bounded;
use crate::search::{self, Goals};
use crate::settings::Settings;
use crate::trials::{Effort, Stop, Trials, Wanted};

/// Runs a trial at the answer with the settings, and judges it.
pub(crate) fn check(
    spec: &FindSpec,
    goals: &Goals,
    trials: &mut Trials<'_>,
    settings: Settings,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(answer) = &learned.answer else {
        return Ok(());
    };
    let Some(window) = trials.window(spec.window, Effort::Full, 0.0) else {
        return Ok(());
    };
    let value = answer.value;
    let mut levels = search::levels(spec, value as u32);
    levels.extend(trials.raised_levels());
    let record = trials.run(&Wanted {
        role: Role::Check,
        case: None,
        levels,
        window,
        why: &format!("whether all holds at {value} {}", spec.varied.noun()),
    })?;
    let others: Vec<Bounded> = goals.others().cloned().collect();
    let cpu = goals.cpu.map(|(_, goal)| goal);
    let all: [&TrialRecord; 1] = [&record];
    learned.confirmed = Some(Confirmed {
        settings,
        held: judge(&all, cpu, &others, trials.facts()),
    });
    Ok(())
}
