package weir.regulator.limit;

/**
 * The limit that has held, to which a limit goes back by itself when a bad time is over.
 *
 * <p>Other work on the same CPUs, a pause, an application that starts: as long as such a time lasts, each reading asks for less,
 * down to the least limit. Once it is over, the few requests that are still let through take long to say that more of them would
 * do no harm. So the limit that has held is remembered. A limit of less than half of it doubles with each reading, unjudged, as
 * long as the CPUs are below half of what they are to be. So does one of less than half a slot: where a request is let in for a
 * part of the time, twice of that time brings twice as much. That it is quiet by then makes no difference: whoever comes first
 * is not to pay for the time before.
 */
final class Proven {
    /** Weight of a window in which the limit held. */
    private static final double WEIGHT_UP = 0.1;
    /** The same while it is lower than what is remembered, which a bad time is not to wipe out. */
    private static final double WEIGHT_DOWN = 0.02;
    /** Up to here a limit grows unjudged in any case. */
    private static final double LEAST = 1.0;

    private double limit;

    /** Before anything has been seen, the limit at first. */
    Proven(double start) {
        this.limit = start;
    }

    /** This limit held the flow for a window, and nothing was too much. */
    void held(double held) {
        double weight = held > limit ? WEIGHT_UP : WEIGHT_DOWN;
        limit += weight * (held - limit);
    }

    /** Up to where a limit grows unjudged. */
    double limit() {
        return Math.max(limit, LEAST);
    }
}
