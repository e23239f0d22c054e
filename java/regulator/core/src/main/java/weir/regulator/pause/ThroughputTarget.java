package weir.regulator.pause;

/**
 * A class completes at least a share of what it completes alone.
 *
 * <p>What it completes alone is measured: now and then all others are held for two windows of 250 ms, of which the first is let
 * pass. After two seconds at first, and ever less often, up to every 40 s, as long as the measurements agree to a tenth; then it
 * costs others 1.3 % of their time. Windows in which others do not run count without being asked for.
 *
 * <p>In between, at the end of each window, the share of the time that others run follows the ratio of both throughputs, with
 * the gain of an integral controller. It aims at half of the loss that is allowed.
 */
public final class ThroughputTarget extends Target {
    /** What a window is about; each but the first is followed by the next. */
    private enum Phase {
        /** Others run, or do not care to. */
        BESIDE,
        /** Others have just been held: what they left behind is worked off. */
        SETTLING,
        /** Others are held. */
        ALONE,
        /** Others run again since some moment in it. */
        RELEASED
    }

    private static final long WINDOW_NS = 250_000_000L;
    private static final long PROBE_MIN_NS = 2_000_000_000L;
    private static final long PROBE_MAX_NS = 40_000_000_000L;
    private static final double AGREEMENT = 0.1;
    /** Weight of a window in the throughputs. */
    private static final double WEIGHT = 0.25;
    /** Threads that run on average, below which the class counts as alone. */
    private static final double ALONE = 0.02;
    private static final double GAIN = 1.0;
    private static final double STEP_MAX = 0.25;
    private static final double HEADROOM = 1.25;

    private final double promised;
    private final double aim;
    private final Pace pace;
    private double share = Double.POSITIVE_INFINITY;
    private double alonePerS = Double.NaN;
    private double besidePerS = Double.NaN;
    private long windowBegan = -1;
    private double usedInWindow;
    private int completed;
    private Phase phase = Phase.BESIDE;
    private long nextProbe;
    private long probeNs = PROBE_MIN_NS;

    /**
     * Keeps a promise by the pace of others.
     *
     * @param promised the share of the throughput alone, above 0 and below 1
     */
    public ThroughputTarget(double promised, Pace pace) {
        if (!(promised > 0 && promised < 1)) {
            throw new IllegalArgumentException(promised + " is not a share above 0 and below 1");
        }
        this.promised = promised;
        this.aim = (1 + promised) / 2;
        this.pace = pace;
    }

    @Override
    void answered(long afterNs, boolean wasCompleted, long now) {
        passed(now);
        completed += wasCompleted ? 1 : 0;
    }

    @Override
    void passed(long now) {
        if (windowBegan < 0) {
            windowBegan = now;
        }
        usedInWindow = Math.max(usedInWindow, pace.used(now));
        if (now - windowBegan < WINDOW_NS) {
            return;
        }
        double perS = completed * 1e9 / (now - windowBegan);
        boolean isAlone = usedInWindow < ALONE;
        windowBegan = now;
        completed = 0;
        usedInWindow = pace.used(now);
        switch (phase) {
            case BESIDE:
                if (isAlone) {
                    alone(perS, now);
                } else {
                    beside(perS, now);
                }
                probe(now);
                break;
            case SETTLING:
                phase = Phase.ALONE;
                break;
            case ALONE:
                alone(perS, now);
                phase = Phase.RELEASED;
                break;
            default:
                phase = Phase.BESIDE;
        }
    }

    @Override
    void resume() {
        windowBegan = -1;
        completed = 0;
        phase = Phase.BESIDE;
    }

    /** Holds others for two windows, when it is time. */
    private void probe(long now) {
        if (now >= nextProbe && pace.isActive(WINDOW_NS, now)) {
            phase = Phase.SETTLING;
            pace.hold(now + 2 * WINDOW_NS);
            nextProbe = now + probeNs;
        }
    }

    private void alone(double perS, long now) {
        if (Double.isNaN(alonePerS)) {
            alonePerS = perS;
        } else {
            boolean agrees = Math.abs(perS / Math.max(alonePerS, 1e-9) - 1) < AGREEMENT;
            probeNs = agrees ? Math.min(probeNs * 2, PROBE_MAX_NS) : PROBE_MIN_NS;
            alonePerS += (agrees ? WEIGHT : 0.5) * (perS - alonePerS);
        }
        nextProbe = Math.max(nextProbe, now + probeNs);
    }

    private void beside(double perS, long now) {
        if (Double.isNaN(alonePerS)) {
            nextProbe = now;
            return;
        }
        besidePerS = Double.isNaN(besidePerS) ? perS : besidePerS + WEIGHT * (perS - besidePerS);
        double ratio = besidePerS / Math.max(alonePerS, 1e-9);
        double step = Math.min(Math.max(GAIN * (ratio - aim), -STEP_MAX), STEP_MAX);
        boolean isPressed = pace.isPressed(WINDOW_NS, now);
        if (step < 0) {
            double most = isPressed ? share : Math.min(share, pace.used(now) * HEADROOM);
            share = Math.max(most * (1 + step), SHARE_MIN);
        } else if (isPressed) {
            share *= 1 + step;
        }
    }

    @Override
    double share() {
        return share;
    }

    @Override
    State state() {
        if (!(measured() < promised)) {
            return State.KEPT;
        }
        return share > SHARE_MIN ? State.REGAINED : State.IMPOSSIBLE;
    }

    @Override
    double measured() {
        return besidePerS / alonePerS;
    }

    @Override
    long graceNs() {
        return PauseRules.DEFAULT.stretchMinNs;
    }
}
