package weir.regulator;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/** The busy share of CPUs, as the Java platform reads it. */
final class CpuLoad {
    private static final Logger LOGGER = System.getLogger("weir.regulator");
    /** Closer readings are too coarse: the kernel counts in steps of up to 10 ms. */
    private static final long EVERY_NS = 200_000_000L;

    /** Shares from 0 to 1; NaN what cannot be had. */
    static final class Reading {
        /** Of the machine's CPUs (of the container's, from JDK 17 on), whoever uses them. */
        final double machine;
        /** Of the CPUs on which this virtual machine may run, used by itself. */
        private final double own;

        private Reading(double machine, double own) {
            this.machine = machine;
            this.own = own;
        }

        /** Of the CPUs on which this virtual machine may run, at least. */
        double atLeast() {
            return Double.isNaN(machine) || own > machine ? own : machine;
        }
    }

    private final AtomicLong due = new AtomicLong();
    /** Guarded by the one whose turn a reading is: {@link #due} lets one in at a time. */
    private volatile long readAt = -1;
    private volatile long usedNs;

    /** A reading, if one is due and can be had; else null. */
    Reading read(long now) {
        long at = due.get();
        if (now < at || !due.compareAndSet(at, now + EVERY_NS)) {
            return null;
        }
        try {
            return readBean(now);
        } catch (RuntimeException | LinkageError e) {
            // Not worth a request: it is known to fail in containers of some virtual machines.
            due.set(Long.MAX_VALUE);
            LOGGER.log(Level.WARNING, "the CPUs' time in use is not read, as if it were low: " + e);
            return null;
        }
    }

    @SuppressWarnings("deprecation") // Its other name is unknown to Java 11.
    private Reading readBean(long now) {
        java.lang.management.OperatingSystemMXBean bean = ManagementFactory.getOperatingSystemMXBean();
        if (!(bean instanceof com.sun.management.OperatingSystemMXBean)) {
            return null;
        }
        com.sun.management.OperatingSystemMXBean read = (com.sun.management.OperatingSystemMXBean) bean;
        double load = read.getSystemCpuLoad();
        return new Reading(load >= 0 ? load : Double.NaN, own(read.getProcessCpuTime(), now));
    }

    private double own(long nowUsedNs, long now) {
        long before = readAt;
        long beforeNs = usedNs;
        readAt = now;
        usedNs = nowUsedNs;
        if (before < 0 || nowUsedNs < 0) {
            return Double.NaN;
        }
        return (double) (nowUsedNs - beforeNs) / (now - before) / Runtime.getRuntime().availableProcessors();
    }
}
