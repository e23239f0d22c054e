package weir.regulator.servlet;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Looks again and again at requests whose asynchronous work goes on, because containers do not always tell of its end: Tomcat
 * (9.0.112, 10.1.49 and 11.0.14 were tried) may close the connection without a word to the listeners when a client leaves while
 * another thread writes to it.
 */
final class Lookout implements AutoCloseable {
    private final Duration every;
    private final ScheduledThreadPoolExecutor looks;

    Lookout(Duration every) {
        this.every = every;
        // What comes after the end is not looked at: there is no application any more.
        looks = new ScheduledThreadPoolExecutor(1, Lookout::daemon, new ThreadPoolExecutor.DiscardPolicy());
        looks.setRemoveOnCancelPolicy(true);
        // Where nothing is asynchronous, there is no thread.
        looks.setKeepAliveTime(10 * every.toNanos(), TimeUnit.NANOSECONDS);
        looks.allowCoreThreadTimeOut(true);
    }

    /** From now on, until the result is cancelled. */
    Future<?> keep(Runnable look) {
        return looks.scheduleWithFixedDelay(look, every.toNanos(), every.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        looks.shutdownNow();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(null, task, "weir-regulator-lookout", 0, false);
        thread.setDaemon(true);
        return thread;
    }
}
