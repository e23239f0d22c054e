package weir.regulator;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** For how long collections of garbage have stopped all threads. */
final class GarbageCollections {
    /** Collectors that run beside the application count the time of whole cycles, which is not a pause. */
    private static final GarbageCollectorMXBean[] STOPPING = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> !bean.getName().endsWith("Cycles"))
            .toArray(GarbageCollectorMXBean[]::new);

    private GarbageCollections() {}

    /** Since the virtual machine began, in nanoseconds; counted in milliseconds. */
    static long totalNs() {
        long totalMs = 0;
        for (GarbageCollectorMXBean bean : STOPPING) {
            totalMs += Math.max(0, bean.getCollectionTime());
        }
        return totalMs * 1_000_000;
    }
}
