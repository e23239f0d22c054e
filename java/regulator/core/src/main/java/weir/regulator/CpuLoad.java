package weir.regulator;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/** The busy share of the machine's CPUs, as the Java platform reads it (of the container's, from JDK 17 on). */
final class CpuLoad {
    /** Closer readings are too coarse: the kernel counts in steps of up to 10 ms. */
    private static final long EVERY_NS = 200_000_000L;

    private final AtomicLong due = new AtomicLong();

    /** A reading, if one is due and can be had; else NaN. */
    @SuppressWarnings("deprecation") // Its other name is unknown to Java 11.
    double read(long now) {
        long at = due.get();
        if (now < at || !due.compareAndSet(at, now + EVERY_NS)) {
            return Double.NaN;
        }
        java.lang.management.OperatingSystemMXBean bean = ManagementFactory.getOperatingSystemMXBean();
        if (!(bean instanceof com.sun.management.OperatingSystemMXBean)) {
            return Double.NaN;
        }
        double load = ((com.sun.management.OperatingSystemMXBean) bean).getSystemCpuLoad();
        return load >= 0 ? load : Double.NaN;
    }
}
