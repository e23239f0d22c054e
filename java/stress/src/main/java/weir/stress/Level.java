package weir.stress;

/**
 * A count that rises and falls, and its integral over time. The difference of two integrals divided by the time between them is
 * the mean of the count. Not safe for threads: its owner locks.
 */
final class Level {
    private long value;
    private double valueSeconds;
    private long sinceNs;

    Level(long nowNs) {
        sinceNs = nowNs;
    }

    void change(long nowNs, int by) {
        valueSeconds = seconds(nowNs);
        sinceNs = nowNs;
        value += by;
    }

    long value() {
        return value;
    }

    /** The integral up to now. */
    double seconds(long nowNs) {
        return valueSeconds + value * ((nowNs - sinceNs) / 1e9);
    }
}
