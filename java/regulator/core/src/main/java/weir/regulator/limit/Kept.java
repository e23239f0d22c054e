package weir.regulator.limit;

/** Whether a promise is kept: the share of about the last thousand requests that were in time, exponentially weighted. */
public final class Kept {
    private static final double MEMORY = 1000.0;

    private final Promise promise;
    private double inTime = 1.0;
    private double count;

    /** Before the first request. */
    public Kept(Promise promise) {
        this.promise = promise;
    }

    /** What is promised. */
    public Promise promise() {
        return promise;
    }

    /** One was answered after so long; says whether in time. */
    public boolean answered(long afterNs) {
        boolean isInTime = afterNs <= promise.withinNs();
        count(isInTime);
        return isInTime;
    }

    /** One was in time or not; one that was refused was not. */
    void count(boolean isInTime) {
        count = Math.min(count + 1, MEMORY);
        inTime += ((isInTime ? 1.0 : 0.0) - inTime) / count;
    }

    /** The share in time; 1 before the first. */
    public double inTime() {
        return inTime;
    }

    /** Whether as many are in time as were promised. */
    public boolean isKept() {
        return inTime >= promise.share();
    }
}
