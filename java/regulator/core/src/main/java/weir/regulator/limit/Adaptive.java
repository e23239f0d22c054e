package weir.regulator.limit;

import java.util.Arrays;
import java.util.List;

/** The limit that Weir finds by itself: see {@link AdaptiveLimit}. Null stands for what is not said. */
public final class Adaptive extends Concurrency {
    private static final double START = 8.0;
    private static final double MIN = 2.0;
    /**
     * With a goal for the CPU, which one slot may already exceed, as a part of the goal (a request at a time that computes on one
     * of one CPU needs all of it), and the least of that.
     */
    private static final double MIN_OF_CPU_GOAL = 0.25;
    private static final double MIN_WITH_CPU_GOAL = 0.05;
    private static final double MAX = 1000.0;

    /** Largest busy share of the server's CPUs, above 0 and below 1. */
    final Double cpu;
    /** Nanoseconds within which 99 % of the requests are answered, the wait for admission included. */
    final Long p99Ns;
    final double min;
    final double max;
    final double start;

    /**
     * Rules; the best throughput is looked for where no goal is said.
     *
     * @param cpu largest busy share of the server's CPUs, above 0 and below 1
     * @param p99Ns nanoseconds within which 99 % of the requests are answered, the wait for admission included
     * @param min the least limit; null: 2, and with a goal for the CPU a quarter of it, at least 0.05
     * @param max the largest; null: 1,000
     * @param start the limit at first; null: 8, within the bounds
     * @throws IllegalArgumentException if a goal or a limit is out of its range, or the least limit above the largest
     */
    public Adaptive(Double cpu, Long p99Ns, Double min, Double max, Double start) {
        if (cpu != null && !(cpu > 0 && cpu < 1)) {
            throw new IllegalArgumentException(cpu + " is not a share above 0 and below 1");
        }
        if (p99Ns != null && p99Ns <= 0) {
            throw new IllegalArgumentException("a p99 of " + p99Ns + " ns is not above 0");
        }
        this.cpu = cpu;
        this.p99Ns = p99Ns;
        this.max = max == null ? MAX : checkLimit(max);
        double wanted = cpu == null ? MIN : Math.max(MIN_WITH_CPU_GOAL, MIN_OF_CPU_GOAL * cpu);
        double least = Math.min(wanted, this.max);
        this.min = min == null ? least : checkLimit(min);
        checkBounds(this.min, this.max);
        double first = start == null ? START : checkLimit(start);
        this.start = Math.max(Math.min(first, this.max), this.min);
    }

    @Override
    Limit start(long now) {
        return new AdaptiveLimit(this, now);
    }

    @Override
    List<Object> parameters() {
        return Arrays.asList(cpu, p99Ns, min, max, start);
    }
}
