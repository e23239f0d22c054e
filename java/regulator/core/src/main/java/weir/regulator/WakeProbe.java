package weir.regulator;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import weir.regulator.pause.Lateness;

/**
 * Measures what a request waits before a filter sees it.
 *
 * <p>A request goes through two threads until then: one that reads connections wakes and hands it to one that works. Each may
 * wait for a CPU, and a virtual thread, which nobody takes off its carrier, until all before it have stood still. Whoever waits
 * there finds all in order once it runs. So a thread sleeps until moments at random distances, and hands something to a thread of
 * the kind that works for requests: how late that one is, is what a request would have waited that came at the moment. Moments
 * that are missed because it sleeps for too long count with what they had to wait.
 *
 * <p>It runs only while somebody wants to know, and ends a second later.
 */
final class WakeProbe {
    private static final Logger LOGGER = System.getLogger("weir.regulator");
    private static final long GAP_MIN_NS = 2_500_000L;
    private static final long GAP_MAX_NS = 7_500_000L;
    private static final long IDLE_NS = 1_000_000_000L;

    private final Time time;
    private final Lateness lateness;
    private final AtomicBoolean runs = new AtomicBoolean();
    private volatile long wantedAt;
    private volatile boolean isVirtual;

    WakeProbe(Time time, Lateness lateness) {
        this.time = time;
        this.lateness = lateness;
    }

    /** The calling thread works for a request of which it is to be known. */
    void seesWorker() {
        boolean virtual = VirtualThreads.isCurrent();
        if (virtual != isVirtual) {
            isVirtual = virtual;
        }
    }

    /** It is to be known for a while from now on. */
    void want(long now) {
        wantedAt = now;
        if (time.isOfMachine() && !runs.get() && runs.compareAndSet(false, true)) {
            start();
        }
    }

    private void start() {
        try {
            daemon(this::run, "weir-regulator-probe").start();
        } catch (OutOfMemoryError e) {
            // No more threads: that is not for the request to answer for that came by. It is tried again.
            runs.set(false);
            LOGGER.log(Level.WARNING, "what requests wait before they are seen is not measured: " + e);
        }
    }

    private void run() {
        // Ends by itself when nothing comes for a second.
        ThreadPoolExecutor worker = new ThreadPoolExecutor(
                1, 1, IDLE_NS, TimeUnit.NANOSECONDS, new LinkedBlockingQueue<>(),
                task -> daemon(task, "weir-regulator-probed"));
        worker.allowCoreThreadTimeOut(true);
        // What was measured an hour ago says nothing of the requests that come now.
        lateness.forget();
        try {
            SplittableRandom random = new SplittableRandom();
            long due = time.now();
            while (time.now() - wantedAt < IDLE_NS) {
                due += random.nextLong(GAP_MIN_NS, GAP_MAX_NS);
                sleepUntil(due);
                hand(due, worker);
            }
        } finally {
            worker.shutdown();
            synchronized (lateness) {
                runs.set(false);
                lateness.forget();
            }
        }
    }

    private void sleepUntil(long due) {
        for (long left = due - time.now(); left > 0; left = due - time.now()) {
            time.park(left);
        }
    }

    private void hand(long due, ThreadPoolExecutor worker) {
        Runnable arrival = () -> {
            long late = time.now() - due;
            synchronized (lateness) {
                // Not what is handed over last, once all is forgotten.
                if (runs.get()) {
                    lateness.add(due, late);
                }
            }
        };
        if (isVirtual) {
            VirtualThreads.start(arrival);
        } else {
            worker.execute(arrival);
        }
    }

    /** A thread that keeps nothing alive, not even the application that started it. */
    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }
}
