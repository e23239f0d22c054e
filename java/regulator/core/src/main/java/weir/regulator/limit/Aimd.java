package weir.regulator.limit;

import java.util.List;

/** Additive increase, multiplicative decrease: see {@link AimdLimit}. */
public final class Aimd extends Concurrency {
    /** The defaults of Netflix' concurrency-limits. */
    public static final Aimd DEFAULT = new Aimd(20, 20, 200, 0.9, 5_000_000_000L);

    final double start;
    final double min;
    final double max;
    final double backOff;
    final long timeoutNs;

    /**
     * Rules.
     *
     * @param start the limit at first
     * @param min the least
     * @param max the largest
     * @param backOff by which the limit is multiplied; from 0.5 up to 1
     * @param timeoutNs responses that take longer, in nanoseconds, count as failed
     * @throws IllegalArgumentException if the least limit is above the largest
     */
    public Aimd(double start, double min, double max, double backOff, long timeoutNs) {
        checkBounds(min, max);
        this.start = start;
        this.min = min;
        this.max = max;
        this.backOff = backOff;
        this.timeoutNs = timeoutNs;
    }

    @Override
    Limit start(long now) {
        return new AimdLimit(this);
    }

    @Override
    List<Object> parameters() {
        return List.of(start, min, max, backOff, timeoutNs);
    }
}
