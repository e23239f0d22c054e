package weir.regulator;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * For how long the calling thread has had a CPU.
 *
 * <p>Not to be asked after each stretch. To answer, Linux brings the thread's account up to date (update_curr in task_sched_runtime) and
 * sees then, and not at its next tick, that the thread's time slice is over. Where more threads want to run than there are CPUs slices
 * get shorter, and caches colder: twenty threads on two CPUs, 250 ticks a second, had 430 to 500 involuntary switches in half a second
 * instead of 265, and walked 1.4 % less.
 */
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
