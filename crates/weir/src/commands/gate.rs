//! `weir gate`: the flow-control gateway, and how one that runs stands.

mod learn;
mod service;
mod status;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use weir_gateway::{FileError, GateFile, Gateway, GatewayError, Reload, Settings, Status};
use weir_record::failed_to;

use crate::error::{ExpectedError, FileProblems};
use crate::{interrupt, output, taken_port};
use learn::Learning;
use watch::Watched;

/// How often a gateway that learns says how it stands.
const SECOND: Duration = Duration::from_secs(1);

/// Hold the flow: a gateway in front of a server, with caps, a bounded queue and a page that shows
/// it.
///
/// Stands in front of any HTTP server, lets through what the file says, holds the rest back for a
/// bounded time, and rejects what is too much. SIGHUP reads the file again without dropping a
/// request; SIGTERM and Ctrl-C take no more requests, let those that run end, and end. The admin
/// port shows a live page, `/status` and `/metrics`, and changes limits (`POST /limits`) and reads
/// the file again (`POST /reload`).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct GateArguments {
    /// The gateway's file.
    #[arg(value_name = "GATE.toml", required = true)]
    file: Option<PathBuf>,
    /// End when standard input closes, so that the gateway never outlives the program that started
    /// it.
    #[arg(long, hide = true)]
    with_parent: bool,
    #[command(flatten)]
    learn: learn::LearnArguments,
    #[command(subcommand)]
    command: Option<GateCommand>,
}

#[derive(Debug, Subcommand)]
enum GateCommand {
    /// Show how a gateway that runs stands.
    Status(status::StatusArguments),
}

/// The line that is printed once the gateway takes requests.
#[derive(Serialize)]
struct Ready {
    listen: Vec<String>,
    admin: Option<String>,
}

pub(crate) fn run(arguments: &GateArguments) -> Result<u8, ExpectedError> {
    match (&arguments.command, &arguments.file) {
        (Some(GateCommand::Status(arguments)), _) => status::run(arguments),
        (None, Some(file)) => hold(file, arguments),
        (None, None) => Err(ExpectedError::Input(
            "name the gateway's file: weir gate GATE.toml".to_owned(),
        )),
    }
}

/// Says what is wrong with a gateway's file.
pub(crate) fn check(file: &Path) -> Result<(), ExpectedError> {
    let (_, settings) = read(file)?;
    settings.check().map_err(|error| failed(file, &error))
}

fn hold(file: &Path, arguments: &GateArguments) -> Result<u8, ExpectedError> {
    let mut learning = Learning::wanted(&arguments.learn);
    let (read, settings) = match learning {
        Some(_) => GateFile::read_to_learn(file).map_err(refused)?,
        None => read(file)?,
    };
    if let Some(learning) = &learning {
        learning.begin(&settings);
    }
    // Before anything listens, so that no signal finds the program without a way to end well.
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| {
        ExpectedError::Environment(format!("failed to listen for signals: {error}"))
    })?;
    if arguments.with_parent {
        interrupt::with_parent();
    }
    let page =
        weir_report::gate_html().map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    let mut gateway = Gateway::start_from(Some(read), settings, page, output::talk)
        .map_err(|error| failed(file, &error))?;
    let addresses = gateway.addresses();
    output::json_line(&Ready {
        listen: addresses.listen.iter().map(ToString::to_string).collect(),
        admin: addresses.admin.as_ref().map(ToString::to_string),
    });
    service::tell(&service::ready());
    let (sender, told) = mpsc::channel();
    if let Some(succeeded) = gateway.succeeded() {
        hand_on(succeeded, sender.clone());
    }
    listen(signals, sender);
    let mut watched = Watched::new(file);
    let mut is_succeeded = false;
    loop {
        match told.recv_timeout(SECOND) {
            Err(RecvTimeoutError::Timeout) => {
                if let Some(learning) = &mut learning {
                    learning.second(&gateway);
                }
                if watched.has_changed() && gateway.watches_file() {
                    reload(&gateway, file);
                }
            }
            Ok(Told::Signal(SIGHUP)) => {
                service::tell(&service::reloads());
                watched.is_read();
                reload(&gateway, file);
                service::tell(&service::ready());
            }
            Ok(Told::Succeeded) => {
                output::talk("another gateway has taken over");
                gateway.end_admin();
                is_succeeded = true;
                break;
            }
            Ok(Told::Signal(_)) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // The service goes on in its successor.
    if !is_succeeded {
        service::tell(&service::stops());
    }
    output::talk(
        "no more requests are taken; those that run may end (once more to break them off)",
    );
    let saved = learning.map_or(Ok(()), |learning| learning.end(&gateway));
    let ended = gateway.drain();
    if !ended.has_ended() {
        output::talk("some requests did not end in time and were broken off");
    }
    output::json_line(&Ended { ended });
    saved.map(|()| 0)
}

/// The last line: what it has counted, as no admin port tells it any more.
#[derive(Serialize)]
struct Ended {
    ended: Status,
}

/// What a gateway that runs is told.
enum Told {
    Signal(i32),
    /// Another gateway takes requests in its place.
    Succeeded,
}

fn hand_on(succeeded: Receiver<()>, to: Sender<Told>) {
    std::thread::spawn(move || {
        if succeeded.recv().is_ok() {
            // Nobody listens any more once it has ended.
            let _ = to.send(Told::Succeeded);
        }
    });
}

/// Hands signals on until one ends the gateway. After that the user does not want to wait, and the
/// next one ends it at once.
fn listen(mut signals: Signals, to: Sender<Told>) {
    std::thread::spawn(move || {
        let mut ends = false;
        for signal in signals.forever() {
            if signal != SIGHUP && std::mem::replace(&mut ends, true) {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            // Nobody listens any more once it has ended.
            let _ = to.send(Told::Signal(signal));
        }
    });
}

fn reload(gateway: &Gateway, file: &Path) {
    match gateway.reload_file() {
        Ok(reload) => tell(file, &reload),
        Err(error) => {
            output::tell_error(&refused(error));
            output::talk("the settings stay as they were");
        }
    }
}

/// Says what reading the file again has changed.
fn tell(file: &Path, reload: &Reload) {
    output::talk(&format!("{}: read again", file.display()));
    for changed in &reload.changed {
        output::talk(&format!("  {changed}"));
    }
    for key in &reload.undone {
        output::talk(&format!("  {key}: as the file has it again"));
    }
}

fn read(file: &Path) -> Result<(GateFile, Settings), ExpectedError> {
    GateFile::read(file).map_err(refused)
}

/// Why a file is not in force.
fn refused(error: FileError) -> ExpectedError {
    match error {
        FileError::Mistakes {
            path,
            text,
            mistakes,
        } => {
            let problems = mistakes.into_iter().map(Into::into).collect();
            let name = path.display().to_string();
            ExpectedError::File(FileProblems::new(&name, &text, problems))
        }
        FileError::Gateway { path, source } => failed(&path, &source),
        error => ExpectedError::Input(failed_to(&error)),
    }
}

fn failed(file: &Path, error: &GatewayError) -> ExpectedError {
    let says = format!("{}: {}", file.display(), failed_to(error));
    match error {
        GatewayError::Rules(_)
        | GatewayError::NotBuilt(_)
        | GatewayError::CpuElsewhere { .. }
        | GatewayError::Fixed(_) => ExpectedError::Input(says),
        GatewayError::Listen { address, source } => {
            let tcp = address.tcp();
            let holder = tcp.map_or_else(String::new, |tcp| taken_port::holder(tcp, source));
            ExpectedError::Environment(format!("{says}{holder}"))
        }
        _ => ExpectedError::Environment(says),
    }
}
