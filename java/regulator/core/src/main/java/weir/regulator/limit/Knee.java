package weir.regulator.limit;

/**
 * Whether more slots still bring more, where it is not the CPU that says so.
 *
 * <p>A limit that follows response times alone drifts, because the response time without a queue is never seen under load. What
 * cannot drift is this: if more slots bring no more throughput, they are too many (the throughput/concurrency correlation of
 * Uber's Cinnamon and of failsafe-go). So each rise is judged. Before and after it, the mean number in flight n and the pace p
 * are measured, p being the busy share of the CPUs where it is read and above a half, and thus the less noisy of the two, and the
 * throughput otherwise. If p has not grown by 0.3 of what n has grown by, all of the rise but what p has grown by is taken back,
 * and none is tried for 5 s; for twice as long each time, up to a minute.
 *
 * <p>The limit is lowered only on evidence that requests wait inside the application: the mean response time is above 1.5 times
 * the least that has been seen over about 200 responses. Then by a fifth, and that is judged too: if p falls by half of what n
 * has fallen by, the slots were needed after all; they are given back, and the present response time becomes the new least.
 */
final class Knee {
    /** Part of the rise in flight that the pace has to rise by. */
    private static final double WORTH = 0.3;
    /** Part of the fall in flight that the pace may fall by. */
    private static final double HARM = 0.5;
    /** The least change in flight that can be judged. */
    private static final double CHANGE_MIN = 0.05;
    /** By how much the limit is lowered. */
    private static final double CUT = 0.8;
    /** Response times above this multiple of the least are evidence of a queue inside the application. */
    private static final double QUEUED = 1.5;
    /** Responses over which a mean response time is taken before it can be the least: of fewer, the least is luck. */
    private static final double MEMORY = 200.0;
    /** For so long after a change that nobody waits, it can still be judged. */
    private static final long REST_MAX_NS = 5_000_000_000L;
    /** How long no rise is tried after one that brought nothing: at first, and at most. */
    private static final long WAIT_MIN_NS = 5_000_000_000L;
    private static final long WAIT_MAX_NS = 60_000_000_000L;

    /** The level before the last change, or null. */
    private Level before;
    /** When that was. */
    private long changed;
    private Level.Measured here = new Level.Measured();
    /** Whether the next window is still about the limit before. */
    private boolean settles;
    private long closedUntil;
    private long waitNs = WAIT_MIN_NS;
    /** The mean response time of late, of how many responses, and the least that it has been. */
    private double meanS;
    private double responses;
    private double leastS = Double.NaN;

    /**
     * Nobody waits for the limit: there is nothing to judge, but perhaps a response time to remember. A rise lets go on who has
     * waited, so that this comes right after it; it is judged when somebody waits again.
     */
    void rest(Window.Seen seen, long now) {
        if (Seconds.since(changed, now) < REST_MAX_NS) {
            restart(false);
        } else {
            forget();
        }
        remember(seen);
    }

    /** What limits is something else: what was measured is about the past. */
    void forget() {
        before = null;
        restart(false);
    }

    /** Takes a window in which the limit held the flow, and says what the limit is to be: often what it is. */
    double next(double limit, double ratio, double busy, Window.Seen seen, long now) {
        remember(seen);
        if (settles) {
            settles = false;
            return limit;
        }
        here.add(seen, busy);
        Level level = here.level(limit);
        // What there is hardly room for is not tried: it could not be judged.
        boolean rises = now >= closedUntil && ratio > 1 + CHANGE_MIN;
        double next = rises ? limit * ratio : limit * CUT;
        if (!here.isEnough(before, level, Math.abs(next / limit - 1))) {
            return limit;
        }
        double back = before == null ? Double.NaN : judge(before, level, now);
        before = null;
        if (!Double.isNaN(back)) {
            restart(true);
            return back;
        }
        if (!rises && !(level.responseS > QUEUED * leastS)) {
            restart(false);
            return limit;
        }
        before = level;
        changed = now;
        restart(true);
        return next;
    }

    /** The limit to go back to, if the change was not worth it; else NaN. */
    private double judge(Level from, Level to, long now) {
        double change = to.inFlight / from.inFlight - 1;
        double gain = to.gain(from);
        if (change > CHANGE_MIN) {
            // Throughput alone is led astray by equal requests, which end together; the CPU has to have more to do, too.
            gain = Math.min(gain, to.busyGain(from));
            if (gain < WORTH * change) {
                closedUntil = Seconds.later(now, waitNs);
                waitNs = Math.min(waitNs * 2, WAIT_MAX_NS);
                return from.limit * (1 + Math.max(gain, 0));
            }
            waitNs = WAIT_MIN_NS;
        } else if (change < -CHANGE_MIN && gain < HARM * change) {
            leastS = to.responseS;
            return from.limit;
        }
        return Double.NaN;
    }

    private void remember(Window.Seen seen) {
        if (seen.completed == 0) {
            return;
        }
        responses += seen.completed;
        double weight = Math.min(seen.completed / Math.min(responses, MEMORY), 1);
        meanS += weight * (seen.responseS - meanS);
        if (responses >= MEMORY) {
            leastS = Double.isNaN(leastS) ? meanS : Math.min(leastS, meanS);
        }
    }

    private void restart(boolean settles) {
        this.here = new Level.Measured();
        this.settles = settles;
    }
}
