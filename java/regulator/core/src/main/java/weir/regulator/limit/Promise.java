package weir.regulator.limit;

import java.util.Objects;

/**
 * What the clients of a class may rely on: a share of their requests is answered within a time, the wait for admission
 * included.
 */
public final class Promise {
    private final double share;
    private final long withinNs;

    /**
     * A promise.
     *
     * @param share the share, above 0 and below 1: 0.99 for a p99
     * @param withinNs the time, in nanoseconds, above 0
     * @throws IllegalArgumentException if either is out of its range
     */
    public Promise(double share, long withinNs) {
        if (!(share > 0 && share < 1)) {
            throw new IllegalArgumentException(share + " is not a share above 0 and below 1");
        }
        if (withinNs <= 0) {
            throw new IllegalArgumentException("nobody answers within " + withinNs + " ns; promise a time above 0");
        }
        this.share = share;
        this.withinNs = withinNs;
    }

    /** The share of requests that are in time. */
    public double share() {
        return share;
    }

    /** The time, in nanoseconds. */
    public long withinNs() {
        return withinNs;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Promise && ((Promise) other).share == share && ((Promise) other).withinNs == withinNs;
    }

    @Override
    public int hashCode() {
        return Objects.hash(share, withinNs);
    }
}
