package weir.regulator.limit;

/**
 * An application that stands still for a moment, as one does that collects garbage or is not scheduled.
 *
 * <p>Nothing ends meanwhile, so that the limit is full however large it is, and whoever waits in front of it would be sent away
 * for a reason that has nothing to do with load. So when nothing has ended for as long as eight requests usually need (were ends
 * Poisson, a chance of e⁻⁸, 0.03 %), twice as many as are in flight (equal ones that share the CPUs end together), and at least
 * 100 ms, the limit counts twice, and those who wait go in: at most as many as the limit. The next request that ends, ends that.
 */
final class Standstill {
    /** Usual ends that have to be missing, and for each request in flight. */
    private static final double MISSING = 8.0;
    private static final double MISSING_EACH = 2.0;
    /** Shorter than this, nothing stands still. */
    private static final double LEAST_S = 0.1;
    /** By what the limit is multiplied meanwhile. */
    private static final double LIFT = 2.0;
    /** Weight of a window in the usual number of ends. */
    private static final double WEIGHT = 0.1;

    /** Requests that usually end in a second; NaN before any has. */
    private double usualPerS = Double.NaN;
    /** Since when requests are in flight of which none has ended; {@link Admission#NEVER}: none is in flight. */
    private long since = Admission.NEVER;
    private boolean isOn;

    /** By what the limit is multiplied now. */
    double lift() {
        return isOn ? LIFT : 1;
    }

    /** How things stand from now on. */
    void stands(int inFlight, boolean pressed, long now) {
        if (inFlight == 0) {
            since = Admission.NEVER;
            isOn = false;
            return;
        }
        if (since == Admission.NEVER) {
            since = now;
        }
        isOn |= pressed && Seconds.of(Seconds.since(since, now)) >= patienceS(inFlight);
    }

    /** A request has ended with a response. */
    void ended(long now) {
        since = now;
        isOn = false;
    }

    /** A window is over. */
    void learn(Window.Seen seen) {
        if (seen.completed > 0) {
            double perS = seen.perS();
            double usual = Double.isNaN(usualPerS) ? perS : usualPerS;
            usualPerS = usual + WEIGHT * (perS - usual);
        }
    }

    /** How long nothing ends in an application that stands still; NaN, which is never reached, before anything has ended. */
    private double patienceS(int inFlight) {
        return Math.max(LEAST_S, Math.max(MISSING, MISSING_EACH * inFlight) / usualPerS);
    }
}
