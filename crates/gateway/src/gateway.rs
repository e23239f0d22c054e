//! A gateway from start to end.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::{Semaphore, watch};

use crate::access_log::{AccessLog, Writer};
use crate::admin::Admin;
use crate::control::Control;
use crate::cpu::{CpuBoard, CpuWatch, Place};
use crate::error::GatewayError;
use crate::flow::{Flow, Pacer};
use crate::gate_file::{FileError, GateFile, Keep, Lasting, Reload};
use crate::gatehouse::{FrontCounts, Shared};
use crate::hand_over::{HandOver, Inherited};
use crate::listening::{Listening, SocketFile};
use crate::live::{Current, Live};
use crate::open_files::room_for_connections;
use crate::rules::rules;
use crate::scale::{ScaleBoard, ScaleWatch};
use crate::settings::{ListenAddress, Settings};
use crate::status::{LearntStatus, Status};
use crate::thread;
use crate::tls::Tls;

/// Who may connect at a path: clients may, as far as its folder lets them; of operators only the
/// user of the gateway.
const RIGHTS_OF_CLIENTS: u32 = 0o666;
const RIGHTS_OF_OPERATORS: u32 = 0o600;

/// A gateway that runs. Dropping it cuts everything off; [`drain`](Self::drain) lets requests come
/// to their end.
#[derive(Debug)]
pub struct Gateway {
    control: Arc<Control>,
    addresses: Addresses,
    hand_over: Option<HandOver>,
    /// Of sockets that this gateway has opened.
    files: Arc<Mutex<Vec<SocketFile>>>,
    /// Behind a lock only so that many may look at a gateway.
    succeeded: Mutex<Option<Receiver<()>>>,
    // In this order they end: nobody takes requests, nobody forwards, nobody paces, nobody logs.
    drains: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    admin: Option<Admin>,
    cpu: Option<CpuWatch>,
    scale: Option<ScaleWatch>,
    _pacer: Pacer,
    _writer: Option<Writer>,
}

/// Where a gateway listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// For clients, in the order of the file.
    pub listen: Vec<ListenAddress>,
    /// For operators.
    pub admin: Option<ListenAddress>,
}

impl Gateway {
    /// Starts a gateway; `page` is what the admin port shows to a browser.
    pub fn start(settings: Settings, page: String) -> Result<Self, GatewayError> {
        Self::start_from(None, settings, page, |_| {})
    }

    /// Starts a gateway with settings that came from a file, which is read again by
    /// [`reload_file`](Self::reload_file) and by `POST /reload` on the admin port; it tells
    /// `tell` in words when a reading that a limit depends on is lost, or is there again.
    pub fn start_from(
        file: Option<GateFile>,
        settings: Settings,
        page: String,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, GatewayError> {
        let hand_over = settings.hand_over.clone();
        let mut inherited = Inherited::find(hand_over.as_deref())?;
        let mut socket = |address: &ListenAddress, rights| {
            let open = || Listening::open(address, rights);
            inherited.take(address).map_or_else(open, Ok)
        };
        let mut listeners = Vec::new();
        for address in &settings.listen {
            listeners.push(socket(address, RIGHTS_OF_CLIENTS)?);
        }
        let admin = settings.admin.as_ref();
        let admin = admin.map(|address| socket(address, RIGHTS_OF_OPERATORS));
        let mut admin_listener = admin.transpose()?;
        for address in inherited.left() {
            tell(&format!(
                "a socket that is open already listens on {address}, of which the file says nothing; it is closed"
            ));
        }
        let addresses = Addresses {
            listen: listeners.iter().filter_map(Listening::address).collect(),
            admin: admin_listener.as_ref().and_then(Listening::address),
        };
        let opened = listeners.iter_mut().chain(&mut admin_listener);
        let files: Vec<SocketFile> = opened.filter_map(Listening::take_file).collect();
        let files = Arc::new(Mutex::new(files));
        let threads = settings
            .threads
            .map_or_else(cpus, |threads| threads as usize);
        let (log, writer) = match &settings.access_log {
            Some(path) => AccessLog::start(path).map(|(log, writer)| (Some(log), Some(writer)))?,
            None => (None, None),
        };
        let tls = settings.tls.clone().map(Tls::read).transpose()?;
        let room_total = room_for_connections(settings.max_connections);
        let rules = rules(&settings)?;
        let live = Live::new(settings, None, threads)?;
        Place::check(&live)?;
        let (flow, pacer) = Flow::start(&rules).map_err(GatewayError::Thread)?;
        let (drains, drained) = watch::channel(false);
        let shared = Arc::new(Shared {
            long_lived: Arc::default(),
            flow,
            current: Current::new(live),
            log,
            tls,
            counts: FrontCounts::default(),
            cpu: CpuBoard::default(),
            scale: ScaleBoard::default(),
            room: Arc::new(Semaphore::new(room_total)),
            room_total,
            heads: Arc::default(),
            drains: drained,
            threads,
            begun: Instant::now(),
        });
        let control = Arc::new(Control::new(Arc::clone(&shared), file));
        // From here on, whatever fails ends what was started: by dropping the gateway.
        let mut gateway = Self {
            control,
            addresses,
            drains,
            threads: Vec::new(),
            hand_over: None,
            files: Arc::clone(&files),
            succeeded: Mutex::default(),
            admin: None,
            cpu: None,
            scale: None,
            _pacer: pacer,
            _writer: writer,
        };
        let tell = Arc::new(tell);
        let of_cpu = Arc::clone(&tell);
        let of_cpu = Box::new(move |says: &str| of_cpu(says));
        gateway.cpu = Some(CpuWatch::start(&shared, of_cpu)?);
        gateway.scale = Some(ScaleWatch::start(&shared, move |says| tell(says))?);
        let for_successor = hand_over.is_some().then(|| {
            let sockets = listeners.iter().chain(&admin_listener);
            sockets.map(Listening::handle).collect::<Result<_, _>>()
        });
        let for_successor = for_successor.transpose().map_err(GatewayError::Thread)?;
        if let Some(listener) = admin_listener {
            gateway.admin = Some(Admin::start(listener, Arc::clone(&gateway.control), page)?);
        }
        for number in 0..threads {
            gateway
                .threads
                .push(thread::start(number, &listeners, &shared)?);
        }
        if let Some((path, sockets)) = hand_over.zip(for_successor) {
            let (told, succeeded) = mpsc::channel();
            let then = move || {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.drain(..).for_each(SocketFile::keep);
                // Nobody asks any more once the gateway has ended.
                told.send(()).unwrap_or_default();
            };
            gateway.hand_over = Some(HandOver::start(&path, sockets, then)?);
            gateway.succeeded = Mutex::new(Some(succeeded));
        }
        inherited.succeed();
        Ok(gateway)
    }

    /// Where something comes once another gateway has taken the place of this one, which is then to
    /// be [drained](Self::drain); `None` without `hand-over`, and the second time.
    pub fn succeeded(&mut self) -> Option<Receiver<()>> {
        let succeeded = self.succeeded.get_mut();
        succeeded.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends the admin side: a successor listens there, too.
    pub fn end_admin(&mut self) {
        self.admin = None;
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Whether its file is to be read again when that has changed.
    pub fn watches_file(&self) -> bool {
        self.control.shared.current.get().settings.watches_file
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        Status::of(&self.control)
    }

    /// The text of the file in force with what was learnt, and what that is; nothing where there is
    /// no file, or it is written in a way that is not understood.
    pub fn with_learnt(&self, learnt: &LearntStatus, keep: Keep) -> Option<(String, Lasting)> {
        self.control.with_learnt(learnt, keep)
    }

    /// What the admin side works with.
    #[cfg(test)]
    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Puts other settings in force; requests that run end under the old ones. Also reads
    /// certificates again and opens the access log anew. On an error everything stays as it
    /// was.
    pub fn reload(&self, settings: Settings) -> Result<(), GatewayError> {
        self.control.reload(settings)
    }

    /// Reads the file again and puts it in force, as [`reload`](Self::reload) does; says what
    /// changed.
    pub fn reload_file(&self) -> Result<Reload, FileError> {
        self.control.reload_file()
    }

    /// Takes no more connections, lets requests end within the time of `timeouts.drain`, and ends.
    /// Gives back how it stands then: requests that are in flight still were broken off.
    pub fn drain(mut self) -> Status {
        self.end();
        self.status()
    }

    fn end(&mut self) {
        self.hand_over = None;
        self.drains.send_replace(true);
        for thread in self.threads.drain(..) {
            // A thread that has panicked has told so already.
            let _ = thread.join();
        }
        self.admin = None;
        self.cpu = None;
        self.scale = None;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.clear();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.control.hurry();
            self.end();
        }
    }
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
