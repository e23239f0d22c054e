package weir.regulator.limit;

/** An algorithm that computes a limit from what it is told; it decides on no request. */
abstract class Limit {
    /** Requests in flight at most; infinite without a limit. */
    abstract double limit();

    /** A request is over. */
    abstract void finished(Sample sample, long now);

    /**
     * How things stand from now on; told at each change.
     *
     * @param pressed whether somebody waits whom nothing but this limit holds back
     */
    void stands(int inFlight, boolean pressed, long now) {
        // Only those that look at time need it.
    }

    /** A request of a class with a promise was in time or not, which this share of them is to be. */
    void promised(boolean inTime, double share) {
        // Only those that can make room listen.
    }

    /** Whether the limit cannot be lower. */
    boolean isLeast() {
        return true;
    }

    /** The busy share of the server's CPUs, up to now. */
    void readCpu(double busy, long now) {
        // Only those that aim at it listen.
    }
}
