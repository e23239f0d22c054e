//! Starting a load: everything that can fail fails here, before the first request.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use rustix::thread::sched_setaffinity;
use weir_metric::CpuSet;

use crate::budget::Budget;
use crate::census::Census;
use crate::clock::{Clock, Moment, io_error};
use crate::control::{Control, Stage};
use crate::core::{CoreSetup, Report};
use crate::crash::caught;
use crate::error::LoadError;
use crate::listener_files::ListenerFiles;
use crate::open_files::allow_sockets;
use crate::running::{Gathering, RunningLoad, SECONDS_MAX};
use crate::runtime::run_watched;
use crate::samples::{Batches, RowWriter, SampleSink, Written, batches};
use crate::settings::LoadSettings;
use crate::work::Work;

/// What the threads that send the load are called, without their number.
pub const THREADS: &str = "weir-load";
/// Reports that wait to be put together, for each runtime.
const REPORTS_MAX: usize = 16;

/// Starts a load; returns when all runtimes are ready and have the word to begin.
///
/// Looks up the names of all servers, and may raise the soft limit of open files of this process.
///
/// # Errors
/// See [`LoadError`]; nothing was sent then, and nothing is left running.
pub fn start(settings: LoadSettings) -> Result<RunningLoad, LoadError> {
    let clock = Clock::new(settings.origin, settings.started);
    let cpus = settings.cpus;
    let mut plan = settings.plan;
    let random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    plan.begin(random, clock.epoch_ms(clock.now()).cast_signed());
    let sink = settings.samples;
    if sink.as_ref().and_then(SampleSink::listeners).is_none() {
        plan.listeners.clear();
    }
    let mut work = Work::prepare(
        plan,
        settings.target,
        settings.seed,
        settings.length,
        settings.allowed_hosts,
    )?;
    work.budget = Budget::new(settings.samples_max);
    work.backs_off = settings.backs_off;
    allow_sockets(work.users().saturating_mul(work.connections_of_user()))?;
    let writer = sink.map(|sink| open_writer(sink, &mut work)).transpose()?;
    let places = places(cpus.as_ref(), work.users());
    let users_of_phases = work.users_of_phases(places.len());
    let census = Arc::new(Census::new(work.groups.len(), users_of_phases));
    let work = Arc::new(work);
    let control = Control::new();
    let (seconds_out, seconds) = sync_channel(SECONDS_MAX);
    let rows = writer
        .map(|writer| start_writer(writer, &control, &census, cpus.clone()))
        .transpose()?;
    let (batches, written) = rows.unzip();
    let cores = Cores::start(&work, &places, clock, &control, &census, batches.as_ref())?;
    let gathering = Gathering {
        reports: cores.reports,
        control: control.clone(),
        labels: work.labels.clone(),
        cores: cores.threads.len(),
        seconds: seconds_out,
    };
    let (summary_out, summary) = sync_channel(1);
    let gather = spawn("weir-load-sum", move || {
        keep_helper_to(cpus.as_ref());
        let tally = gathering.run();
        // Whoever joins after its patience was over does not listen any more.
        let _ = summary_out.send(tally);
    })?;
    let begin = clock.now().max(Moment::ORIGIN);
    for core in &cores.begins {
        // A runtime that is gone has panicked, which it has reported.
        let _ = core.send(begin);
    }
    let planned_end = work.planned_end().map(|end| from_origin(begin, end));
    Ok(RunningLoad {
        planned_end,
        work,
        clock,
        control,
        stopped: OnceLock::new(),
        seconds,
        summary,
        gather: Some(gather),
        cores: cores.threads,
        writer: written,
    })
}

/// Opens all files for samples, and notes what they show.
fn open_writer(sink: SampleSink, work: &mut Work) -> Result<RowWriter, LoadError> {
    let listeners = match sink.listeners() {
        Some(all) => {
            let mut nobody = work.nobody();
            let listeners = &work.plan.listeners;
            ListenerFiles::open(
                listeners,
                all,
                sink.result_file(),
                &mut nobody,
                &work.servers,
            )?
        }
        None => ListenerFiles::default(),
    };
    work.show(sink.wanted(), &listeners.wanted(), sink.variables());
    sink.open(listeners, work.audiences.clone())
}

fn from_origin(begin: Moment, end: Duration) -> Duration {
    Duration::from_nanos(begin.after(end).nanos_since(Moment::ORIGIN))
}

/// The runtimes, ready and waiting for the word.
struct Cores {
    threads: Vec<JoinHandle<()>>,
    begins: Vec<Sender<Moment>>,
    reports: Receiver<(usize, Report)>,
}

impl Cores {
    fn start(
        work: &Arc<Work>,
        places: &[Option<CpuSet>],
        clock: Clock,
        control: &Control,
        census: &Arc<Census>,
        batches: Option<&Batches>,
    ) -> Result<Self, LoadError> {
        let (ready_in, ready) = channel();
        let (reports_in, reports): (SyncSender<_>, _) = sync_channel(REPORTS_MAX * places.len());
        let mut cores = Self {
            threads: Vec::new(),
            begins: Vec::new(),
            reports,
        };
        for (index, users) in work.deal(places.len()).into_iter().enumerate() {
            let setup = CoreSetup {
                index,
                runtimes: places.len(),
                clock,
                work: Arc::clone(work),
                users,
                control: control.clone(),
                census: Arc::clone(census),
                reports: reports_in.clone(),
                batches: batches.cloned(),
            };
            let (begin_in, begin) = channel();
            let (ready, cpus) = (ready_in.clone(), places[index].clone());
            cores.begins.push(begin_in);
            cores
                .threads
                .push(spawn(&format!("{THREADS}-{index}"), move || {
                    match cpus.as_ref().map_or(Ok(()), keep_to) {
                        Ok(()) => run_watched(setup, ready, &begin),
                        Err(error) => {
                            let _ = ready.send(Err(error));
                        }
                    }
                })?);
        }
        drop(ready_in);
        // Every runtime answers once and lets go of its end of the channel.
        ready.into_iter().collect::<Result<(), _>>()?;
        Ok(cores)
    }
}

/// Where each runtime runs; no more of them than there are users.
fn places(cpus: Option<&CpuSet>, users: u64) -> Vec<Option<CpuSet>> {
    let most = usize::try_from(users).unwrap_or(usize::MAX);
    if let Some(cpus) = cpus {
        let each = cpus.iter().map(|cpu| CpuSet::new([cpu]));
        return each.take(most).collect();
    }
    let available = thread::available_parallelism().map_or(1, usize::from);
    vec![None; available.min(most)]
}

/// Writes rows on the CPUs of the load, so that the target's stay its own.
fn start_writer(
    writer: RowWriter,
    control: &Control,
    census: &Arc<Census>,
    cpus: Option<CpuSet>,
) -> Result<(Batches, JoinHandle<Written>), LoadError> {
    let (batches, received) = batches();
    let (control, census) = (control.clone(), Arc::clone(census));
    let thread = spawn("weir-load-rows", move || {
        keep_helper_to(cpus.as_ref());
        caught(|| writer.run(&received, &control, &census)).unwrap_or_else(|problem| {
            // What comes from now on would be lost.
            control.order(Stage::Aborting);
            Written {
                problem: Some(problem),
                ..Written::default()
            }
        })
    })?;
    Ok((batches, thread))
}

pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, LoadError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(body);
    spawned.map_err(|source| LoadError::Runtime {
        what: "start its thread",
        source,
    })
}

/// Keeps the calling thread to these CPUs.
fn keep_to(cpus: &CpuSet) -> Result<(), LoadError> {
    let mut mask = rustix::thread::CpuSet::new();
    for cpu in cpus
        .iter()
        .filter(|cpu| *cpu < rustix::thread::CpuSet::MAX_CPU)
    {
        mask.set(cpu);
    }
    sched_setaffinity(None, &mask).map_err(|errno| LoadError::Cpus {
        cpus: cpus.clone(),
        source: io_error(errno),
    })
}

/// Keeps threads that are not the load itself: where their CPUs cannot be had, the runtimes
/// have said so.
fn keep_helper_to(cpus: Option<&CpuSet>) {
    let _ = cpus.map(keep_to);
}
