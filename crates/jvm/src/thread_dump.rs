//! What the threads that serve requests do, counted in a thread dump.
//!
//! The dump is that of `jcmd PID Thread.print`: of each thread a line with its name, its state as
//! `java.lang.Thread.State`, and its stack, the innermost frame first. A thread serves a request
//! when a servlet or a filter stands in its stack. Virtual threads are not in it:
//! [`crate::virtual_threads`] adds them.

/// Frames of a thread that serves a request: of servlets, of the JDK's own server.
const SERVES: [&str; 4] = [
    "Servlet.service(",
    ".doFilter(",
    "CoyoteAdapter.service(",
    "httpserver.ServerImpl$Exchange",
];
/// Frames of a lock of java.util.concurrent that a thread waits for.
const LOCKS: [&str; 3] = [
    "locks.ReentrantLock",
    "locks.ReentrantReadWriteLock",
    "locks.StampedLock",
];
/// Frames of a thread that waits for a signal of another one, and not for a lock.
const CONDITION: &str = "ConditionObject.await";
/// Frames of a thread that asks a pool for a connection: Commons Pool (also Tomcat's), tomcat-jdbc,
/// HikariCP, Liberty, c3p0, Agroal, Apache's HTTP client.
const POOLS: [&str; 8] = [
    "pool2.impl.GenericObjectPool.borrowObject(",
    "jdbc.pool.ConnectionPool.borrowConnection(",
    HIKARI,
    LIBERTY,
    "BasicResourcePool.checkoutResource(",
    "agroal.pool.ConnectionPool.getConnection(",
    "pool.AbstractConnPool.getPoolEntryBlocking(",
    "pool.StrictConnPool.lease(",
];
/// Frame of a thread that asks a pool of `HikariCP` for a connection.
const HIKARI: &str = "HikariPool.getConnection(";
/// Frame of a thread that asks a pool of Liberty for a connection.
const LIBERTY: &str = "j2c.FreePool.queueRequest(";
/// How the name of a thread ends of which each pool of HikariCP has one.
const HOUSEKEEPER: &str = "housekeeper";
/// Innermost frames of a thread that waits for bytes of a socket; it counts as runnable.
const SOCKETS: [&str; 5] = [
    "sun.nio.ch.Net.poll(",
    "sun.nio.ch.SocketDispatcher.read0(",
    "sun.nio.ch.UnixDispatcher.read0(",
    "java.net.SocketInputStream.socketRead0(",
    "sun.nio.ch.EPoll.wait(",
];
/// Innermost frames of a thread that has the system look up a host; it counts as runnable.
const LOOKUPS: [&str; 2] = [
    "AddressImpl.lookupAllHostAddr(",
    "AddressImpl.getHostByAddr(",
];
/// Frame of a thread that waits for another one to have looked up the same host.
const SAME_LOOKUP: &str = "java.net.InetAddress$NameServiceAddresses.get(";
/// Frames of a thread that reads random numbers of the system: of the JDK's generators …
const RANDOM: [&str; 2] = [
    "sun.security.provider.NativePRNG",
    "sun.security.provider.SeedGenerator",
];
/// … and innermost the read; it counts as runnable.
const FILES: [&str; 2] = ["FileInputStream.readBytes(", "FileInputStream.read0("];
/// A frame of a virtual thread that waits for bytes of a socket; it counts as waiting.
const POLLER: &str = "sun.nio.ch.Poller.poll";
/// Frames of a thread whose bytes another thread reads: it waits for the answer in a future. The
/// clients for HTTP of the JDK, of Jetty, of Apache (asynchronous, also Elasticsearch's) and
/// `AsyncHttpClient`; gRPC's blocking calls, `MongoDB`, Redis (Lettuce).
const CLIENTS: [&str; 8] = [
    "jdk.internal.net.http.HttpClientImpl.send(",
    "jetty.client.HttpRequest.send(",
    "apache.http.concurrent.BasicFuture.get(",
    "hc.core5.concurrent.BasicFuture.get(",
    "asynchttpclient.netty.NettyResponseFuture.get(",
    "grpc.stub.ClientCalls.blocking",
    "mongodb.internal.connection.",
    "lettuce.core.internal.Futures.await",
];
/// Frames of Jolokia's agent: the request that its thread serves is Weir's.
const AGENT: &str = "org.jolokia.";
/// Frames of a thread of a server that waits for a request: of Tomcat, Liberty, Jetty.
const FREE: [&str; 3] = [
    "org.apache.tomcat.util.threads.TaskQueue.",
    "ws.threading.internal.BoundedBuffer.",
    "QueuedThreadPool$Runner.idleJobPoll(",
];
/// What stands behind the port in the name of a thread of a Tomcat connector that has threads of
/// its own.
const OF_CONNECTOR: &str = "-exec-";
/// Frames among which such a one is looked for.
const INNERMOST: usize = 3;

/// Threads that serve a request, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestThreads {
    /// All of them.
    pub seen: u32,
    /// They run, or are ready to.
    pub running: u32,
    /// They wait for a monitor (`synchronized`).
    pub monitor: u32,
    /// They wait for a lock of java.util.concurrent.
    pub lock: u32,
    /// They sleep (`Thread.sleep`).
    pub asleep: u32,
    /// They wait for bytes of a socket, or for a client's answer: a database, another service.
    pub answer: u32,
    /// They wait for a host's name or address to be looked up.
    pub lookup: u32,
    /// They wait for random numbers of the system.
    pub random: u32,
    /// They wait for a connection of a pool.
    pub pool: u32,
    /// They wait for something else: a queue, a semaphore, another thread.
    pub parked: u32,
    /// Those of `pool` that wait for one of HikariCP.
    pub hikari: u32,
    /// Those of `pool` that wait for one of Liberty.
    pub liberty: u32,
    /// Beside them: threads of the server that wait for a request of a port.
    pub free: u32,
    /// Pools of HikariCP.
    pub hikari_pools: u32,
}

/// What a thread does, as the virtual machine calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs, or could; or its innermost frame waits for bytes.
    Runnable,
    /// It waits for a monitor.
    Blocked,
    /// It sleeps.
    Asleep,
    /// It waits for something else.
    Waiting,
}

impl RequestThreads {
    /// Counts them in a thread dump of a server that the load asks at a port.
    pub fn in_dump(dump: &str, port: u16) -> Self {
        let mut count = Self::default();
        // A thread begins with its name in quotes; some are followed by what they have locked.
        for thread in dump.split("\n\"") {
            count.add_printed(thread, port);
        }
        count
    }

    fn add_printed(&mut self, thread: &str, port: u16) {
        let mut lines = thread.lines().map(str::trim_start);
        let Some(state) = lines.find_map(|line| line.strip_prefix("java.lang.Thread.State: "))
        else {
            return;
        };
        let state = if state.starts_with("RUNNABLE") {
            State::Runnable
        } else if state.starts_with("BLOCKED") {
            State::Blocked
        } else if state.contains("(sleeping)") {
            State::Asleep
        } else {
            State::Waiting
        };
        let frames: Vec<&str> = lines.filter_map(|line| line.strip_prefix("at ")).collect();
        let name = thread.trim_start_matches('"').split('"').next();
        let name = name.unwrap_or_default();
        self.hikari_pools += u32::from(name.ends_with(HOUSEKEEPER));
        // One that waits for the queue's lock takes a request in a moment.
        let waits =
            state == State::Waiting && (has(&frames, &[CONDITION]) || !has(&frames, &LOCKS));
        if waits && has(&frames, &FREE) && !has(&frames, &SERVES) && serves_port(name, port) {
            self.free += 1;
        }
        self.add(state, &frames);
    }

    /// Counts a thread with these frames, the innermost first, if it serves a request.
    pub(crate) fn add(&mut self, state: State, frames: &[&str]) {
        let has = |marks: &[&str]| has(frames, marks);
        if !has(&SERVES) || has(&[AGENT]) {
            return;
        }
        self.seen += 1;
        let innermost = &frames[..frames.len().min(INNERMOST)];
        let reads = self::has(innermost, &SOCKETS) || has(&[POLLER]);
        let of = match state {
            State::Asleep => &mut self.asleep,
            State::Runnable if self::has(innermost, &LOOKUPS) => &mut self.lookup,
            State::Blocked | State::Waiting if has(&[SAME_LOOKUP]) => &mut self.lookup,
            State::Runnable if self::has(innermost, &FILES) && has(&RANDOM) => &mut self.random,
            State::Runnable if !reads => &mut self.running,
            State::Runnable => &mut self.answer,
            State::Waiting if has(&[POLLER]) => &mut self.answer,
            State::Blocked | State::Waiting if has(&POOLS) => {
                self.hikari += u32::from(has(&[HIKARI]));
                self.liberty += u32::from(has(&[LIBERTY]));
                &mut self.pool
            }
            State::Blocked => &mut self.monitor,
            State::Waiting if has(&CLIENTS) => &mut self.answer,
            State::Waiting if has(&LOCKS) && !has(&[CONDITION]) => &mut self.lock,
            State::Waiting => &mut self.parked,
        };
        *of += 1;
    }
}

/// Whether a thread of this name takes requests of a port: a connector of Tomcat has threads of its
/// own, called `http-nio-8080-exec-1`, unless it has an executor, which serves every port.
fn serves_port(name: &str, port: u16) -> bool {
    let connector = name
        .rsplit_once(OF_CONNECTOR)
        .map(|(connector, _)| connector);
    let own = connector.and_then(|connector| connector.rsplit_once('-')?.1.parse::<u16>().ok());
    own.is_none_or(|own| own == port)
}

fn has(frames: &[&str], marks: &[&str]) -> bool {
    let mut frames = frames.iter();
    frames.any(|frame| marks.iter().any(|mark| frame.contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: &str = "\tat jakarta.servlet.http.HttpServlet.service(HttpServlet.java:631)\n\
         \tat org.apache.catalina.connector.CoyoteAdapter.service(CoyoteAdapter.java:399)\n";

    fn thread(state: &str, frames: &[&str]) -> String {
        let frames: Vec<String> = frames
            .iter()
            .map(|frame| format!("\tat {frame}\n"))
            .collect();
        let frames = frames.concat();
        format!(
            "\"http-nio-8080-exec-1\" #25 daemon prio=5 os_prio=0 cpu=1.2ms nid=0x8c5 waiting  [0x1]\n   \
             java.lang.Thread.State: {state}\n{frames}{SERVICE}\n"
        )
    }

    const PORT: u16 = 8080;
    const PARK: &str = "jdk.internal.misc.Unsafe.park(java.base@17/Native Method)";

    /// What is counted in a dump of one thread.
    fn in_one(state: &str, frames: &[&str]) -> RequestThreads {
        let dump = format!(
            "2026-01-01 00:00:00\nFull thread dump:\n\n{}",
            thread(state, frames)
        );
        RequestThreads::in_dump(&dump, PORT)
    }

    #[test]
    fn threads_that_wait_for_the_system_do_not_run() {
        let seen = RequestThreads {
            seen: 1,
            ..RequestThreads::default()
        };
        let lookup = RequestThreads { lookup: 1, ..seen };
        let random = RequestThreads { random: 1, ..seen };
        let looks_up = "java.net.Inet6AddressImpl.lookupAllHostAddr(java.base@17/Native Method)";
        let same = "java.net.InetAddress$NameServiceAddresses.get(java.base@17/InetAddress.java:1)";
        let read = "java.io.FileInputStream.readBytes(java.base@17/Native Method)";
        let seeds =
            "sun.security.provider.NativePRNG$RandomIO.readFully(java.base@17/NativePRNG.java:1)";
        for (state, frames, want) in [
            (
                "RUNNABLE",
                vec![looks_up, "shop.Baskets.sum(Baskets.java:1)"],
                lookup,
            ),
            ("BLOCKED (on object monitor)", vec![same], lookup),
            ("WAITING (parking)", vec![PARK, same], lookup),
            ("RUNNABLE", vec![read, seeds], random),
            // Any file, and a thread that has its numbers and goes on.
            (
                "RUNNABLE",
                vec![read],
                RequestThreads { running: 1, ..seen },
            ),
            (
                "RUNNABLE",
                vec![seeds],
                RequestThreads { running: 1, ..seen },
            ),
        ] {
            assert_eq!(in_one(state, &frames), want, "{state}, {frames:?}");
        }
    }

    #[test]
    fn threads_that_wait_for_others_wait_for_a_clients_answer_or_for_anything() {
        let seen = RequestThreads {
            seen: 1,
            ..RequestThreads::default()
        };
        let park = PARK;
        for (state, frames, want) in [
            (
                "WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.CompletableFuture$Signaller.block(java.base@17/CompletableFuture.java:1)",
                    "java.util.concurrent.CompletableFuture.get(java.base@17/CompletableFuture.java:1)",
                    "jdk.internal.net.http.HttpClientImpl.send(java.net.http@17/HttpClientImpl.java:1)",
                ],
                RequestThreads { answer: 1, ..seen },
            ),
            (
                "WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.CompletableFuture.get(java.base@17/CompletableFuture.java:1)",
                    "shop.Baskets.sum(Baskets.java:1)",
                ],
                RequestThreads { parked: 1, ..seen },
            ),
            (
                "WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireSharedInterruptibly(A.java:1)",
                    "java.util.concurrent.Semaphore.acquire(java.base@17/Semaphore.java:318)",
                ],
                RequestThreads { parked: 1, ..seen },
            ),
        ] {
            assert_eq!(in_one(state, &frames), want, "{state} {frames:?}");
        }
    }

    #[test]
    fn threads_are_counted_by_what_they_do() {
        let park = PARK;
        let seen = RequestThreads {
            seen: 1,
            ..RequestThreads::default()
        };
        for (state, frames, want) in [
            (
                "RUNNABLE",
                vec!["weir.Sum.run(Sum.java:1)"],
                RequestThreads { running: 1, ..seen },
            ),
            (
                "BLOCKED (on object monitor)",
                vec!["a.B.c(B.java:2)"],
                RequestThreads { monitor: 1, ..seen },
            ),
            (
                "TIMED_WAITING (sleeping)",
                vec!["java.lang.Thread.sleep(Native Method)"],
                RequestThreads { asleep: 1, ..seen },
            ),
            (
                "WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)",
                ],
                RequestThreads { lock: 1, ..seen },
            ),
            (
                "TIMED_WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos(A.java:1)",
                    "java.util.concurrent.locks.ReentrantLock$Sync.x(A.java:1)",
                ],
                RequestThreads { parked: 1, ..seen },
            ),
            (
                "RUNNABLE",
                vec![
                    "sun.nio.ch.Net.poll(java.base@17/Native Method)",
                    "sun.nio.ch.NioSocketImpl.park(A.java:1)",
                ],
                RequestThreads { answer: 1, ..seen },
            ),
            (
                "WAITING (parking)",
                vec![
                    park,
                    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(A.java:1)",
                    "org.apache.tomcat.dbcp.pool2.impl.LinkedBlockingDeque.takeFirst(L.java:1)",
                    "org.apache.tomcat.dbcp.pool2.impl.GenericObjectPool.borrowObject(G.java:1)",
                ],
                RequestThreads { pool: 1, ..seen },
            ),
            (
                "TIMED_WAITING (parking)",
                vec![
                    park,
                    "com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:1)",
                    "com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:1)",
                ],
                RequestThreads {
                    pool: 1,
                    hikari: 1,
                    ..seen
                },
            ),
            (
                "WAITING (parking)",
                vec![
                    park,
                    "org.apache.http.pool.AbstractConnPool.getPoolEntryBlocking(A.java:1)",
                ],
                RequestThreads { pool: 1, ..seen },
            ),
            (
                "RUNNABLE",
                vec![
                    "sun.nio.ch.Net.poll(java.base@17/Native Method)",
                    "org.apache.tomcat.dbcp.pool2.impl.GenericObjectPool.borrowObject(G.java:1)",
                ],
                RequestThreads { answer: 1, ..seen },
            ),
            (
                "WAITING (on object monitor)",
                vec!["java.lang.Object.wait(Native Method)"],
                RequestThreads { parked: 1, ..seen },
            ),
        ] {
            assert_eq!(in_one(state, &frames), want, "{state} {frames:?}");
        }
    }

    /// A thread of a server that waits for a request.
    fn free(name: &str, frame: &str) -> String {
        format!(
            "\"{name}\" #26 daemon\n   java.lang.Thread.State: WAITING (parking)\n\
             \tat {PARK}\n\tat {frame}(Queue.java:145)\n\n"
        )
    }

    const TAKES: &str = "org.apache.tomcat.util.threads.TaskQueue.take";

    #[test]
    fn threads_that_wait_for_a_request_serve_none() {
        let dump = format!(
            "{}\"VM Thread\" os_prio=0 cpu=5.0ms nid=0x8b1 runnable\n\nJNI global refs: 19\n",
            free("http-nio-8080-exec-2", TAKES)
        );
        let one = RequestThreads::in_dump(&dump, PORT);
        assert_eq!((one.seen, one.free), (0, 1));
        let two = format!(
            "{}{dump}{}",
            thread("RUNNABLE", &[]),
            thread("RUNNABLE", &[])
        );
        let three = RequestThreads::in_dump(&two, PORT);
        assert_eq!((three.seen, three.free), (2, 1));
    }

    #[test]
    fn pools_of_hikaricp_are_counted_by_a_thread_that_each_has() {
        let housekeepers = ["HikariPool-1 housekeeper", "orders:housekeeper"];
        let dump = housekeepers.map(|name| free(name, "java.util.concurrent.DelayQueue.take"));
        let counted = RequestThreads::in_dump(&dump.concat(), PORT);
        assert_eq!(counted.hikari_pools, 2);
    }

    #[test]
    fn the_agents_own_request_is_none() {
        let frames = [
            "org.jolokia.jvmagent.handler.JolokiaHttpHandler.handle(J.java:1)",
            "sun.net.httpserver.ServerImpl$Exchange$LinkHandler.handle(S.java:1)",
        ];
        assert_eq!(in_one("RUNNABLE", &frames), RequestThreads::default());
    }

    #[test]
    fn a_thread_that_is_about_to_take_a_request_is_not_free() {
        let takes = format!(
            "java.util.concurrent.locks.ReentrantLock.lockInterruptibly(R.java:1)\n\tat {TAKES}"
        );
        let counted = RequestThreads::in_dump(&free("http-nio-8080-exec-1", &takes), PORT);
        assert_eq!(counted, RequestThreads::default());
    }

    #[test]
    fn free_threads_are_those_of_the_port() {
        for (name, frame, is_free) in [
            ("http-nio-8080-exec-1", TAKES, true),
            ("http-nio-127.0.0.1-8080-exec-12", TAKES, true),
            ("https-jsse-nio-8443-exec-1", TAKES, false),
            ("ajp-nio-127.0.0.1-8009-exec-1", TAKES, false),
            // Of an executor, which serves all connectors.
            ("catalina-exec-1", TAKES, true),
            (
                "Default Executor-thread-7",
                "com.ibm.ws.threading.internal.BoundedBuffer.take",
                true,
            ),
            (
                "qtp12345-20",
                "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll",
                true,
            ),
            (
                "pool-1-thread-1",
                "java.util.concurrent.ThreadPoolExecutor.getTask",
                false,
            ),
        ] {
            let counted = RequestThreads::in_dump(&free(name, frame), PORT);
            assert_eq!(counted.free, u32::from(is_free), "{name}");
            assert_eq!(counted.seen, 0, "{name}");
        }
    }
}
