package weir.regulator;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether a checkpoint is reached while monitors are held of which nobody has told it.
 *
 * <p>The virtual machine knows, but has to stop all threads to say it. So it is asked at a few pauses of a checkpoint only: the first, the
 * second, the fourth, and so on, then every {@link #EVERY}th, and once it has found one, at each. Monitors that were taken before the request came to the filter
 * are the container's and do not count. It knows nothing of virtual threads, nor of locks that are no monitors: those have to be
 * named ({@link Checkpoint#guarded}).
 */
final class HeldMonitors {
    private static final Logger LOGGER = System.getLogger("weir.regulator");
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int EVERY = 256;
    private static final String OWN = HeldMonitors.class.getPackageName() + ".";

    private final AtomicInteger pauses = new AtomicInteger();
    private final AtomicReference<String> found = new AtomicReference<>();

    boolean isHeld(String checkpoint) {
        int count = pauses.incrementAndGet();
        boolean asks = count % EVERY == 0 || (count & (count - 1)) == 0 || found.get() != null;
        String held = asks ? held() : null;
        if (held == null) {
            return false;
        }
        if (found.compareAndSet(null, held)) {
            LOGGER.log(
                    Level.WARNING,
                    "checkpoint {0} is reached while {1} is held; it does not pause then. Put it where no lock is held.",
                    checkpoint,
                    held);
        }
        return true;
    }

    /** A monitor that the calling thread has taken since it came through the filter, or null. */
    private static String held() {
        if (!THREADS.isObjectMonitorUsageSupported()) {
            return null;
        }
        ThreadInfo info = THREADS.getThreadInfo(new long[] {Thread.currentThread().getId()}, true, false)[0];
        if (info == null) {
            return null;
        }
        int filter = filterFrame(info.getStackTrace());
        for (MonitorInfo monitor : info.getLockedMonitors()) {
            if (monitor.getLockedStackDepth() < filter) {
                return monitor.getClassName() + " by " + monitor.getLockedStackFrame();
            }
        }
        return null;
    }

    /** How many frames above is the filter; all, without one. */
    private static int filterFrame(StackTraceElement[] frames) {
        for (int depth = 0; depth < frames.length; depth++) {
            if (frames[depth].getClassName().startsWith(OWN + "servlet.")) {
                return depth;
            }
        }
        return frames.length;
    }
}
