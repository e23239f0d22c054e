package weir.regulator.pause;

import weir.regulator.limit.Kept;
import weir.regulator.limit.Promise;

/**
 * A share of a class's requests is answered within a time.
 *
 * <p>The share of the time that others run is found by stochastic approximation ({@link Steering}). The aim is seven tenths of the
 * late ones that are allowed: resting at exactly as many would break the promise in half of all hours.
 *
 * <p>Answers count only while others run: that the class is slow by itself is no reason to hold anybody back.
 *
 * <p>A filter sees a request when its thread runs. What it waited before that, for the thread that reads the connection and for its
 * own, is not visible to it. How late woken threads are is seen on those that pause, so two of the last latenesses are added to
 * each answer: of the thread that reads and of the one that works.
 */
public final class ResponseTarget extends Target {
    private static final long ACTIVE_NS = 200_000_000L;
    private static final long PRESSED_NS = 100_000_000L;
    /** A stretch of others takes at most this part of the promised time. */
    private static final int GRACE_PARTS = 25;
    private static final int THREADS_WOKEN = 2;
    /** Late answers that are aimed at, as a part of those that are allowed. */
    private static final double AIM = 0.7;

    private final Kept kept;
    private final Steering steering;
    private final Pace pace;
    private final Lateness lateness;

    /** Keeps a promise by the pace of others. */
    public ResponseTarget(Promise promise, Pace pace, Lateness lateness) {
        this.steering = new Steering((1 - promise.share()) * AIM);
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
        long unseen = 0;
        for (int thread = 0; active && thread < THREADS_WOKEN; thread++) {
            unseen += lateness.next();
        }
        boolean inTime = kept.answered(afterNs + unseen);
        if (active) {
            steering.answered(inTime, pace.used(now), pace.isPressed(PRESSED_NS, now));
        }
    }

    @Override
    void passed(long now) {
        // Only answers say something.
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
        return share() > SHARE_MIN ? State.REGAINED : State.IMPOSSIBLE;
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
