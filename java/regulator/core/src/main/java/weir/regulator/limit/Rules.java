package weir.regulator.limit;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** All that an {@link Admission} holds. */
public final class Rules {
    /** How long a request waits at most where nothing else is said, in nanoseconds. */
    public static final long MAX_WAIT_DEFAULT_NS = 200_000_000L;
    /** How many requests wait at most where nothing else is said. */
    public static final int MAX_QUEUE_DEFAULT = 16_384;

    /** Most requests admitted per second; null: as many as there are. */
    public final Rate rate;
    /** Most requests in flight; null: no cap. */
    public final Concurrency concurrency;
    /** How long a request waits to be admitted, in nanoseconds; 0: it does not. */
    public final long maxWaitNs;
    /** How many requests wait. */
    public final int maxQueue;
    /** The classes of requests; none: all are of one class without rules of its own. */
    public final List<ClassRules> classes;

    /**
     * Rules.
     *
     * @throws IllegalArgumentException if two classes have the same name
     */
    public Rules(Rate rate, Concurrency concurrency, long maxWaitNs, int maxQueue, List<ClassRules> classes) {
        Set<String> names = new HashSet<>();
        for (ClassRules of : classes) {
            if (!names.add(of.name)) {
                throw new IllegalArgumentException("two classes are named " + of.name);
            }
        }
        this.rate = rate;
        this.concurrency = concurrency;
        this.maxWaitNs = maxWaitNs;
        this.maxQueue = maxQueue;
        this.classes = List.copyOf(classes);
    }
}
