package weir.regulator.limit;

/**
 * The limit that Weir finds by itself: as few slots as the goal allows.
 *
 * <p>What is wanted is the least limit at which the server is as busy as it can be: more only lets requests wait inside the
 * application instead of in front of it. Where the busy share U of the server's CPUs is read, it says directly whether more
 * slots would bring more throughput, without any base that could drift: while somebody waits for the limit,
 *
 * <ul>
 *   <li>U below 97 %: more slots, as many as would fill the CPUs if U grew in proportion, at most twice as many;
 *   <li>U at 99 % or more in three readings in a row: fewer, by 3 % at first and up to 20 % at a time. Three, because a server
 *       that has stood still for a moment is saturated until it has caught up, and has not too many slots for that;
 *   <li>with a goal for U: the limit follows (goal/U − 1) with gain 0.3.
 * </ul>
 *
 * <p>Where U says that there is room and more slots bring nothing, something else is the limit, and where U is not read, there
 * is only throughput: see {@link Knee}. Nothing changes while nobody waits for the limit, so that it is never lowered for a
 * reason that a quiet time gives, and never to see what happens. But a bad time that is over does not last in it: see
 * {@link Proven}. While the application stands still, the limit counts twice: see {@link Standstill}.
 */
final class AdaptiveLimit extends Limit {
    /** Share of the time in which somebody has to wait for the limit, for the limit to be what holds the flow. */
    private static final double PRESSED = 0.5;
    /** From this busy share on more slots bring no more throughput. */
    private static final double SATURATED = 0.99;
    /** Below this one they do. */
    private static final double SPARE = 0.97;
    /** Below this one, something else than the CPU can be what limits. */
    private static final double DOUBTFUL = 0.9;
    /** Below this part of what the CPUs are to be, a limit below this part of what has held goes back. */
    private static final double FAR = 0.5;
    /** Up to this multiple of a goal it counts as kept. */
    private static final double KEPT = 1.1;
    /** Saturated readings in a row before the limit is lowered. */
    private static final int PATIENCE = 3;
    /** The first step down, the largest, and how they grow. */
    private static final double STEP_MIN = 0.03;
    private static final double STEP_MAX = 0.2;
    private static final double STEP_GROWTH = 1.5;
    /** By how much the limit grows at a time where no CPU is read. */
    private static final double BLIND_GROWTH = 1.5;
    /** Share of the way to a goal for the CPU that is gone at once. */
    private static final double GAIN = 0.3;
    /** The step down where a goal for the CPU is exceeded by so much that U no longer says by how much. */
    private static final double SATURATED_STEP = 0.7;
    /** After so long without a reading, there is none. */
    private static final long READING_LIFE_NS = 3_000_000_000L;
    /** Readings that come faster are taken together: the steps of the kernel's clock are a good part of a shorter time. */
    private static final double READING_MIN_S = 0.19;
    /** Without readings, a window has at least this length and so many responses. */
    private static final double WINDOW_S = 0.25;
    private static final int WINDOW_RESPONSES = 10;
    /** A window with less than this part of the usual throughput is one in which the server stood still. */
    private static final double STALL = 0.5;
    /** Windows in a row that are passed over for that. */
    private static final int STALLS = 2;
    /** Weight of a window in the usual throughput. */
    private static final double USUAL_WEIGHT = 0.2;

    private final Adaptive rules;
    private final ResponseBound bound = new ResponseBound();
    private final Window window;
    private final Knee knee = new Knee();
    private final Proven proven;
    private final Standstill standstill = new Standstill();
    /** As throughput and CPU say. */
    private double flow;
    private long readAt = Admission.NEVER;
    /** Busy seconds and seconds of the readings in this window. */
    private double busyS;
    private double readS;
    /** Saturated readings in a row. */
    private int saturated;
    private double step = STEP_MIN;
    /** Usual throughput while the limit holds the flow; NaN before it is known. */
    private double usualPerS = Double.NaN;
    private int stalls;

    AdaptiveLimit(Adaptive rules, long now) {
        this.rules = rules;
        this.flow = rules.start;
        this.proven = new Proven(rules.start);
        this.window = new Window(now);
    }

    @Override
    double limit() {
        double limit = found();
        return Math.max(limit, Math.min(rules.max, limit * standstill.lift()));
    }

    /** The limit that has been found, however the application stands at this moment. */
    private double found() {
        return Math.max(bound.within(flow), rules.min);
    }

    @Override
    boolean isLeast() {
        return found() <= rules.min;
    }

    @Override
    void stands(int inFlight, boolean pressed, long now) {
        window.stands(inFlight, pressed, now);
        standstill.stands(inFlight, pressed, now);
    }

    @Override
    void finished(Sample sample, long now) {
        window.finished(sample);
        if (sample.kind == Kind.COMPLETED) {
            standstill.ended(now);
        }
        if (rules.p99Ns != null && sample.kind == Kind.COMPLETED) {
            promised(sample.waitedNs + sample.responseNs <= rules.p99Ns, 0.99);
        }
        boolean isRead = readAt != Admission.NEVER && Seconds.since(readAt, now) < READING_LIFE_NS;
        if (!isRead && window.completed() >= WINDOW_RESPONSES && window.seconds(now) >= WINDOW_S) {
            decide(Double.NaN, now);
        }
    }

    @Override
    void promised(boolean inTime, double share) {
        bound.answered(inTime, share, found(), window.isPressed());
        // What is late while the limit is as low as it may be would otherwise be charged to it again and again.
        bound.keepAbove(rules.min);
    }

    @Override
    void readCpu(double busy, long now) {
        double seconds = readAt == Admission.NEVER ? 1.0 : Seconds.of(Seconds.since(readAt, now));
        readAt = now;
        busyS += busy * seconds;
        readS += seconds;
        if (window.seconds(now) >= READING_MIN_S && readS > 0) {
            double mean = busyS / readS;
            busyS = 0;
            readS = 0;
            decide(mean, now);
        }
    }

    /** Closes the window; {@code busy} is NaN where it is not read. */
    private void decide(double busy, long now) {
        Window.Seen seen = window.close(now);
        standstill.learn(seen);
        // Above the goal the limit is lowered whoever waits: the work is there already.
        boolean exceeds = rules.cpu != null && busy > rules.cpu;
        if (hasFallen(busy)) {
            goBack(busy);
            return;
        }
        if (seen.pressed < PRESSED) {
            knee.rest(seen, now);
            saturated = 0;
            if (!exceeds) {
                return;
            }
        } else if (stalls(seen)) {
            return;
        } else {
            remember(busy);
        }
        if (Double.isNaN(busy)) {
            grow(BLIND_GROWTH, busy, seen, now);
        } else if (rules.cpu != null) {
            aimAt(rules.cpu, busy, seen, now);
        } else {
            saturate(busy, seen, now);
        }
    }

    /** Whether the server stood still in this window, which says nothing about how many slots it needs. */
    private boolean stalls(Window.Seen seen) {
        double perS = seen.perS();
        if (Double.isNaN(usualPerS)) {
            usualPerS = perS;
        }
        if (perS < STALL * usualPerS && stalls < STALLS) {
            stalls++;
            return true;
        }
        stalls = 0;
        usualPerS += USUAL_WEIGHT * (perS - usualPerS);
        return false;
    }

    /** Whether the limit is far below what has held, for no reason that the CPUs give by now; not where they are not read. */
    private boolean hasFallen(double busy) {
        return busy < FAR * busyWanted() && flow < FAR * proven.limit();
    }

    /** One step towards the limit that has held. */
    private void goBack(double busy) {
        knee.forget();
        saturated = 0;
        step = STEP_MIN;
        set(Math.min(flow * growth(busyWanted(), busy), proven.limit()));
    }

    /** Remembers a limit that holds the flow, unless it is too much, or nobody could say so. */
    private void remember(double busy) {
        if (Double.isNaN(busy)) {
            return;
        }
        boolean isKept = rules.cpu == null ? busy < SATURATED || saturated < PATIENCE : busy <= KEPT * rules.cpu;
        if (isKept) {
            proven.held(flow);
        }
    }

    /** How busy the CPUs are to be. */
    private double busyWanted() {
        return rules.cpu == null ? SATURATED : rules.cpu;
    }

    /** By how much the limit grows at a time, if the CPUs get busier in proportion. */
    private static double growth(double wanted, double busy) {
        return Math.min(wanted / Math.max(busy, 0.01), 2);
    }

    /** Holds the busy share at a goal. */
    private void aimAt(double goal, double busy, Window.Seen seen, long now) {
        if (busy >= SATURATED) {
            set(flow * SATURATED_STEP);
        } else if (busy < DOUBTFUL * goal) {
            grow(growth(goal, busy), busy, seen, now);
        } else {
            knee.forget();
            set(flow * (1 + GAIN * (goal / busy - 1)));
        }
    }

    /** Finds the fewest slots that keep the CPUs busy. */
    private void saturate(double busy, Window.Seen seen, long now) {
        if (busy >= SATURATED) {
            knee.forget();
            saturated++;
            if (saturated >= PATIENCE) {
                set(flow * (1 - step));
                step = Math.min(step * STEP_GROWTH, STEP_MAX);
            }
        } else if (busy < SPARE) {
            saturated = 0;
            step = STEP_MIN;
            double ratio = growth(SATURATED, busy);
            if (busy < DOUBTFUL) {
                grow(ratio, busy, seen, now);
            } else {
                knee.forget();
                set(flow * ratio);
            }
        } else {
            knee.forget();
        }
    }

    /** More slots, as long as more bring more. */
    private void grow(double ratio, double busy, Window.Seen seen, long now) {
        set(knee.next(flow, Math.min(ratio, rules.max / flow), busy, seen, now));
    }

    private void set(double limit) {
        flow = Math.max(Math.min(limit, rules.max), rules.min);
    }
}
