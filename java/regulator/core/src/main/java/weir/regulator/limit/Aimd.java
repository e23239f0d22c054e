package weir.regulator.limit;

import java.util.List;

/** Additive increase, multiplicative decrease: see {@link AimdLimit}. */
public final class Aimd extends Concurrency {
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
     * @throws IllegalArgumentException if the limit at first is not between the least and the largest, or the back-off not within its bounds
     */
    public Aimd(double start, double min, double max, double backOff, long timeoutNs) {
        checkBounds(start, min, max);
        if (!(backOff >= 0.5 && backOff < 1)) {
            throw new IllegalArgumentException("a back-off of " + backOff + " is not from 0.5 up to 1");
        }
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
