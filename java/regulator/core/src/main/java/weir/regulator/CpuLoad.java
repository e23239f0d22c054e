package weir.regulator;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/** The busy share of CPUs, as the Java platform reads it. */
final class CpuLoad {
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
    @SuppressWarnings("deprecation") // Its other name is unknown to Java 11.
    Reading read(long now) {
        long at = due.get();
        if (now < at || !due.compareAndSet(at, now + EVERY_NS)) {
            return null;
        }
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
