package weir.regulator.pause;

import weir.regulator.limit.Kept;
import weir.regulator.limit.Promise;

/**
 * A share of a class's requests is answered within a time.
 *
 * <p>The share of the time that others run is found by what is left of the late ones that are allowed ({@link Steering}).
 *
 * <p>Answers count only while others run: that the class is slow by itself is no reason to hold anybody back.
 *
 * <p>A filter sees a request when its thread runs. What it waited before that is not visible to it, but is measured beside, and added
 * to each answer ({@link Backlog}).
 */
public final class ResponseTarget extends Target {
    private static final long ACTIVE_NS = 200_000_000L;
    private static final long PRESSED_NS = 100_000_000L;
    /** A stretch of others takes at most this part of the promised time. */
    private static final int GRACE_PARTS = 25;

    /**
     * Late answers that are aimed at, as a part of those that are allowed: clients had two to five times as many late ones as could be
     * seen here, on a Tomcat with one CPU (E4).
     */
    private static final double AIM = 0.2;

    private final Kept kept;
    private final Steering steering;
    private final Pace pace;
    private final Lateness lateness;
    private final Backlog backlog = new Backlog();

    /** Keeps a promise by the pace of others. */
    public ResponseTarget(Promise promise, Pace pace, Lateness lateness, int cpus) {
        this.steering = new Steering((1 - promise.share()) * AIM, cpus);
        this.kept = new Kept(promise);
        this.pace = pace;
        this.lateness = lateness;
    }

    @Override
    void answered(long afterNs, boolean completed, long now) {
        if (!completed) {
            return;
        }
        boolean active = pace.isActive(ACTIVE_NS, now);
        long unseen = active ? backlog.waitedNs(now - afterNs, lateness) : 0;
        boolean inTime = kept.answered(afterNs + unseen);
        if (active) {
            // Others may have had to stand still for another promise: then this share says nothing, and is not what they had.
            boolean isLimit = steering.share() <= pace.share();
            boolean pressed = isLimit && pace.isPressed(PRESSED_NS, now);
            if (steering.answered(inTime, afterNs + unseen, pace.used(now), pressed, now)) {
                lateness.forget();
            }
        }
    }

    @Override
    void passed(long now) {
        // Only answers say something.
    }

    @Override
    void busy(double part) {
        steering.busy(part);
    }

    @Override
    boolean countsWaits() {
        return true;
    }

    @Override
    double share() {
        return steering.share();
    }

    @Override
    State state() {
        if (kept.isKept()) {
            return State.KEPT;
        }
        return steering.isImpossible() ? State.IMPOSSIBLE : State.REGAINED;
    }

    @Override
    double measured() {
        return kept.inTime();
    }

    @Override
    long graceNs() {
        return kept.promise().withinNs() / GRACE_PARTS;
    }
}
