package weir.regulator.pause;

/**
 * What a class was promised and that pauses are to keep: finds the share of the time that is left for everybody else's work.
 *
 * <p>Not safe for threads: {@link Targets} guards it.
 */
public abstract class Target {
    /** How a promise stands. */
    public enum State {
        /** It is kept. */
        KEPT,
        /** It is not, and others still run that can be made to pause. */
        REGAINED,
        /** It is not, though others were held to the least share: that is not enough, or they are not the cause. */
        IMPOSSIBLE
    }

    /**
     * The least share that others keep under a promise of response time, in threads that run at a time: who runs hardly ever still ends one day, and shows when
     * there is room again.
     */
    static final double SHARE_MIN = 0.04;

    /** Requests of the class that have been admitted and are not over, and when the last one came or ended. */
    int inFlight;
    long lastSeen = Long.MIN_VALUE / 2;
    /** Those in force that it is one of, or null. */
    Targets heldBy;

    /** A request of the class ended after so long; {@code completed} is false if it failed. */
    abstract void answered(long afterNs, boolean completed, long now);

    /** Others have run, or time has passed. */
    abstract void passed(long now);

    /** This part of the CPUs' time was in use since the last reading. */
    void busy(double part) {
        // Who needs it says so.
    }

    /** The class is there again after a while, or its promise is kept again: what was being measured before says nothing. */
    void resume() {
        // Who measures by the time says so.
    }

    /** Whether it has to know how long requests waited before they were seen ({@link Lateness}). */
    boolean countsWaits() {
        return false;
    }

    /** Threads of others that may run at a time, on average; infinite: as they like. */
    abstract double share();

    /** How it stands. */
    abstract State state();

    /** What was measured of what was promised: a share in time, or the throughput as a part of that alone. */
    abstract double measured();

    /** About as long as others may run before the class's next request can go on, in nanoseconds. */
    abstract long graceNs();
}
