package weir.regulator.limit;

/**
 * Requests in flight under a limit that need not be a whole number.
 *
 * <p>A limit of 1.6 means one slot that is always there, and a second one that is held 60 % of the time: it may be taken while
 * the time integral of (limit − in flight) is not negative. That integral never exceeds 0, so that idle time is not saved up,
 * and is never below −{@link #DEBT_MAX}.
 */
final class Slots {
    /** Deepest debt in slots times seconds: how long a fraction of a slot can stay closed after one long request. */
    private static final double DEBT_MAX = 1.0;

    private double limit;
    private int inFlight;
    /** The integral at {@link #at}. */
    private double credit;
    private long at;

    /** With nobody in flight; an infinite limit holds nobody back. */
    Slots(double limit, long now) {
        this.limit = limit;
        this.at = now;
    }

    double limit() {
        return limit;
    }

    int inFlight() {
        return inFlight;
    }

    /** Another limit from now on. */
    void setLimit(double limit, long now) {
        if (limit != this.limit) {
            advance(now);
            this.limit = limit;
        }
    }

    /** Whether one more may go on. */
    boolean hasRoom(long now) {
        return inFlight + 1.0 <= limit || (inFlight < limit && creditAt(now) >= 0);
    }

    /**
     * When the slot that is only there for some of the time opens by itself; {@link Admission#NEVER}: not before a request has
     * ended, or there is room already.
     */
    long opens(long now) {
        double spare = limit - inFlight;
        if (spare <= 0 || hasRoom(now)) {
            return Admission.NEVER;
        }
        double seconds = -creditAt(now) / spare;
        // One nanosecond more than it takes, so that rounding never wakes anybody too early, again and again.
        return Seconds.later(now, (long) Math.ceil(seconds * 1e9) + 1);
    }

    void take(long now) {
        advance(now);
        inFlight++;
    }

    void giveBack(long now) {
        if (inFlight == 0) {
            throw new IllegalStateException("a slot is given back once");
        }
        advance(now);
        inFlight--;
    }

    private void advance(long now) {
        if (limit != Double.POSITIVE_INFINITY) {
            credit = creditAt(now);
        }
        at = now;
    }

    private double creditAt(long now) {
        double spare = limit - inFlight;
        double sum = credit + spare * Seconds.of(Seconds.since(at, now));
        return Math.min(Math.max(sum, -DEBT_MAX), 0);
    }
}
