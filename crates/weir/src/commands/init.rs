//! `weir init`: the first ten minutes with a server that runs already.

mod log;
mod server;
mod told;

use std::path::{Path, PathBuf};

use clap::Args;
use weir_draft::{Cpus, Draft, Mix, plan, study};
use weir_record::write_whole;

use crate::error::{ExpectedError, environment};
use crate::plan_files::FileOptions;
use crate::secrets::Secrets;
use crate::{far, job, output};

/// What the study is called when nobody says.
const STUDY: &str = "study.toml";
/// The plan beside it.
const PLAN: &str = "plan.jmx";

/// Look at a running server and write a commented study for it.
///
/// Finds the process behind the URL's port, recognises Apache Tomcat, Spring Boot, Liberty, Apache
/// httpd and nginx, reads their limits from their configuration and command line, and writes a
/// study that `weir check` accepts and `weir tune` runs. Nothing of the server is changed or
/// restarted: its files and its entries in /proc are read, and Spring Boot's actuator is asked what
/// it has.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Where the server is, with the path to be loaded: `http://127.0.0.1:8080/`.
    #[arg(value_name = "URL")]
    url: String,
    /// The machine on which the server is: a host as for ssh, which is run with the user's own
    /// configuration. Files and processes are read there.
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    /// A file in place of `~/.ssh/config`.
    #[arg(long, value_name = "FILE", requires = "ssh")]
    ssh_config: Option<PathBuf>,
    /// An access log (common or combined format, a proxy's, or JSON; also packed with gzip): its
    /// mix of endpoints becomes a plan beside the study, its arrival rates are told. Only GET
    /// and HEAD get into the plan.
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Where the study is written.
    #[arg(long, value_name = "FILE", default_value = STUDY)]
    out: PathBuf,
    /// Write over files that are there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &InitArguments) -> Result<u8, ExpectedError> {
    let plan_file = plan_file(&arguments.out);
    refuse_to_overwrite(arguments, &plan_file)?;
    let place = server::Place::of(&arguments.url, arguments.ssh.is_some())?;
    let ssh_config = arguments.ssh_config.as_deref();
    let ssh_config = ssh_config.map(absolute).transpose()?;
    let looked = match &arguments.ssh {
        Some(host) => server::look_over_ssh(&place, &far::reach(host, ssh_config.as_deref())?)?,
        None => server::look(&place)?,
    };
    let traffic = arguments.access_log.as_deref().map(log::read).transpose()?;
    let mix = traffic.as_ref().and_then(Mix::of);
    if let Some(traffic) = &traffic {
        output::data_lines(&told::traffic(traffic, mix.as_ref()));
        if mix.is_none() {
            output::talk(
                "the log has no GET or HEAD request that was answered: the study loads the URL's path",
            );
        }
    }
    if let Some(mix) = &mix {
        let log = arguments.access_log.as_deref().unwrap_or(Path::new(""));
        let about = format!(
            "USERS users send the mix of {} without thinking.",
            log.display()
        );
        write(&plan_file, &plan(mix, &about))?;
    }
    let found = looked.as_ref().map(|looked| &looked.found);
    let cpus = looked.as_ref().and_then(|looked| looked.cpus.as_ref());
    let cpus = cpus.map(|(of_server, of_machine)| (of_server.to_string(), of_machine.to_string()));
    let plan_name = plan_file.file_name().map(|name| name.to_string_lossy());
    let file = arguments.out.display().to_string();
    let text = study(&Draft {
        typed: &typed()?,
        file: &file,
        server: &place.server(),
        path: &place.path,
        ssh: arguments.ssh.as_deref().map(|host| {
            let configuration = ssh_config.as_deref().and_then(Path::to_str);
            (host, configuration)
        }),
        found,
        cpus: cpus.as_ref().map(|(of_server, of_machine)| Cpus {
            of_server,
            of_machine,
        }),
        plan: plan_name.as_deref().filter(|_| mix.is_some()),
        rates: traffic.and_then(|traffic| traffic.rates),
    });
    write(&arguments.out, &text)?;
    if let Some(found) = found {
        output::data_lines(&told::found(found));
    }
    job::check(&arguments.out, &FileOptions::default(), |_| {})?;
    let file = weir_shown::line(&file);
    output::talk_lines(&format!(
        "{file} is written; nothing of the server was changed. Read it, then:\n  weir check {file}\n  weir tune {file} --dry-run\n  \
         weir tune {file}"
    ));
    Ok(0)
}

/// The study may lie elsewhere than where it was typed.
fn absolute(file: &Path) -> Result<PathBuf, ExpectedError> {
    std::path::absolute(file)
        .map_err(|error| environment(&format!("use `{}`: {error}", file.display())))
}

/// How it was typed, secrets left out.
fn typed() -> Result<String, ExpectedError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words = Secrets::known()?.masked_words(&words);
    Ok(format!("weir {}", words.join(" ")))
}

fn plan_file(study: &Path) -> PathBuf {
    if study.file_name() == Some(STUDY.as_ref()) {
        study.with_file_name(PLAN)
    } else {
        study.with_extension("jmx")
    }
}

fn refuse_to_overwrite(arguments: &InitArguments, plan: &Path) -> Result<(), ExpectedError> {
    let plan = arguments.access_log.as_ref().map(|_| plan);
    let there = [Some(arguments.out.as_path()), plan];
    let there = there.into_iter().flatten().find(|file| file.exists());
    match there {
        Some(file) if !arguments.force => Err(ExpectedError::Input(format!(
            "{}: there is such a file; write elsewhere with --out FILE, or over it with --force",
            file.display()
        ))),
        _ => Ok(()),
    }
}

fn write(file: &Path, text: &str) -> Result<(), ExpectedError> {
    write_whole(file, text.as_bytes())
        .map_err(|error| environment(&weir_record::failed_to(&error).replacen("failed to ", "", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_lies_beside_the_study() {
        for (study, plan) in [
            ("study.toml", "plan.jmx"),
            ("a/study.toml", "a/plan.jmx"),
            ("a/board.toml", "a/board.jmx"),
        ] {
            assert_eq!(plan_file(Path::new(study)), Path::new(plan));
        }
    }
}
