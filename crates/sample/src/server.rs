//! A running server: started, and stopped at once when told to.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use socket2::{Domain, Protocol, Socket, Type};

use crate::backlog::Backlog;
use crate::content::{Content, DataDirectory};
use crate::database::{self, Statements};
use crate::dispatch::Dispatch;
use crate::error::SampleError;
use crate::funnel::Funnel;
use crate::gate::Gate;
use crate::options::Options;
use crate::parking::Parking;
use crate::pool::Pool;
use crate::{acceptor, admin, metrics, open_files, worker};

/// Backlog of the admin listener.
const ADMIN_BACKLOG: i32 = 32;

/// Where a server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The application.
    pub listen: SocketAddr,
    /// The admin endpoint.
    pub admin: SocketAddr,
}

/// Runs a server until SIGTERM or SIGINT, then stops at once: requests that run are cut off, and a
/// temporary data directory is removed. `on_ready` is called as soon as it answers.
pub fn serve(options: &Options, on_ready: impl FnOnce(Addresses)) -> Result<(), SampleError> {
    // Before anything is made, so that a signal during the start cleans up as well.
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|source| SampleError::Signals { source })?;
    let server = Server::start(options)?;
    on_ready(server.addresses());
    signals.forever().next();
    drop(server);
    Ok(())
}

/// A server that runs in this process until it is dropped.
///
/// Dropping it closes the listeners and every connection that has no request running. Workers that
/// run a request end after it; nothing waits for them.
pub struct Server {
    addresses: Addresses,
    funnel: Arc<Funnel>,
    stop: Arc<OwnedFd>,
    threads: Vec<JoinHandle<()>>,
    /// Dropped last: removes the directory if it is temporary.
    _directory: DataDirectory,
}

impl Server {
    /// Makes the data, opens the pool, starts the threads and listens.
    pub fn start(options: &Options) -> Result<Self, SampleError> {
        metrics::mark_start();
        if !options.admin.ip().is_loopback() {
            return Err(SampleError::AdminNotLoopback {
                address: options.admin,
            });
        }
        // Bound before the data is made, so that a taken port is known at once; listened on when
        // all is ready.
        let application = bind(options.listen)?;
        let admin = bind(options.admin)?;
        let directory = DataDirectory::open(options)?;
        let content = Content::prepare(&directory, options.rows)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| SampleError::Events {
            source: error.into(),
        })?;

        let application = listen(application, options.listen, options.backlog.cast_signed())?;
        let admin = listen(admin, options.admin, ADMIN_BACKLOG)?;
        let addresses = Addresses {
            listen: application.1,
            admin: admin.1,
        };
        let mut server = Self {
            addresses,
            funnel: Arc::new(funnel(options, addresses.listen, content)?),
            stop: Arc::new(stop),
            threads: Vec::new(),
            _directory: directory,
        };
        server.start_threads(options, application.0, admin.0)?;
        Ok(server)
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    fn start_threads(
        &mut self,
        options: &Options,
        application: TcpListener,
        admin: TcpListener,
    ) -> Result<(), SampleError> {
        let workers = self.funnel.dispatch.set_limit(options.threads.into());
        worker::start(&self.funnel, workers).map_err(|source| SampleError::Thread {
            role: "worker",
            source,
        })?;
        let funnel = Arc::clone(&self.funnel);
        self.start_thread("poller", move || {
            funnel
                .parking
                .watch(|connection, now| funnel.dispatch.push(connection, now));
        })?;
        let (funnel, stop) = (Arc::clone(&self.funnel), Arc::clone(&self.stop));
        self.start_thread("admin", move || admin::run(&admin, &stop, &funnel))?;
        let (funnel, stop, timeout) = (
            Arc::clone(&self.funnel),
            Arc::clone(&self.stop),
            options.connection_timeout,
        );
        self.start_thread("acceptor", move || {
            acceptor::accept(&application, &stop, &funnel, timeout);
        })
    }

    fn start_thread(
        &mut self,
        role: &'static str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), SampleError> {
        let thread = thread::Builder::new().name(role.to_owned()).spawn(body);
        self.threads
            .push(thread.map_err(|source| SampleError::Thread { role, source })?);
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        rustix::io::write(&*self.stop, &1_u64.to_ne_bytes())
            .expect("the counter of stops does not overflow");
        self.funnel.gate.stop();
        self.funnel.parking.stop();
        self.funnel.dispatch.stop();
        for thread in self.threads.drain(..) {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// The stages, each with its limit but still without workers.
fn funnel(options: &Options, listen: SocketAddr, content: Content) -> Result<Funnel, SampleError> {
    let file = content.database();
    let path = file.clone();
    let pool = Pool::new(options.pool.into(), move || database::open(&file))
        .map_err(|source| SampleError::Database { path, source })?;
    let others = u64::from(options.threads) + u64::from(options.pool);
    let connections = open_files::room_for_connections(options.max_connections.into(), others);
    Ok(Funnel {
        backlog: Backlog::new(options.backlog, listen),
        gate: Arc::new(Gate::new(connections, options.when_full)),
        parking: Parking::new(options.connection_timeout)
            .map_err(|source| SampleError::Events { source })?,
        dispatch: Dispatch::new(),
        pool,
        statements: Statements::new(),
        content,
        changing: Mutex::new(()),
    })
}

fn bind(address: SocketAddr) -> Result<Socket, SampleError> {
    let bound = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )
    .and_then(|socket| {
        // A server that is started again must not wait for connections of the one before to leave
        // TIME_WAIT.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        Ok(socket)
    });
    bound.map_err(|source| SampleError::Listen { address, source })
}

/// Begins to listen; the address comes with the port that was taken.
fn listen(
    socket: Socket,
    address: SocketAddr,
    backlog: i32,
) -> Result<(TcpListener, SocketAddr), SampleError> {
    let listening = socket.listen(backlog).and_then(|()| {
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    listening.map_err(|source| SampleError::Listen { address, source })
}
