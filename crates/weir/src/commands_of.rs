//! What a study runs, shown before it does, and whose word it is.

use rustix::process::geteuid;

use crate::error::ExpectedError;
use crate::job::Job;
use crate::output;

/// Shows every command of a study with file and line; whether there is any.
pub(crate) fn list(job: &Job, show: fn(&str)) -> bool {
    let commands = weir_study::study_commands(&job.text);
    for command in &commands {
        show(&format!(
            "{}:{}: runs {}",
            job.file,
            command.line,
            command.says()
        ));
    }
    !commands.is_empty()
}

/// Shows what a study runs. As root, what another user has written, or may write, runs only if it
/// is allowed: they may have put it there for root to run.
pub(crate) fn show_and_check(job: &Job, allowed: bool) -> Result<(), ExpectedError> {
    if !list(job, output::talk) || allowed || !geteuid().is_root() {
        return Ok(());
    }
    job.check_trusted().map_err(|why| {
        ExpectedError::Environment(format!(
            "failed to {why}; the commands above are not run as root: allow them \
             (--allow-commands), run Weir as that user, or make the file yours (`chown`, `chmod go-w`)"
        ))
    })
}
