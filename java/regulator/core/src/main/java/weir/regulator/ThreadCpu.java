package weir.regulator;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** For how long the calling thread has had a CPU. */
final class ThreadCpu {
    /** What cannot be told: of virtual threads, and where the virtual machine does not know. */
    static final long UNKNOWN = -1;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final boolean IS_TOLD = THREADS.isCurrentThreadCpuTimeSupported();

    private ThreadCpu() {}

    /** Since it began, in nanoseconds, or {@link #UNKNOWN}. */
    static long usedNs() {
        return IS_TOLD && !VirtualThreads.isCurrent() ? THREADS.getCurrentThreadCpuTime() : UNKNOWN;
    }
}
