package weir.regulator.pause;

/**
 * What a class completes beside others and alone, in neighbouring windows of time: the machine's own speed, and how many requests come,
 * change from second to second by more than a promise allows others to cost, and neighbours share most of that.
 *
 * <p>A round: some windows in which others run, of which the last {@value #NEAR} count; others are held for one window, that what they
 * left behind is worked off; for a second one, which counts as alone; and they go on in a last one that counts for neither, in which
 * they make up for the time they were held. Windows last a quarter of a second; where few answers come, those that count are
 * longer, up to a second. While nobody else is there, nobody is held.
 *
 * <p>Not safe for threads: its target is guarded by {@link Targets}.
 */
final class Comparison {
    /** What a window is about. */
    private enum Phase {
        /** Others run, if there are any. */
        BESIDE,
        /** Others have just been held. */
        SETTLING,
        /** Others are held. */
        ALONE,
        /** Others run again since some moment in it. */
        RELEASED
    }

    /** Windows beside others next to the one alone, and so the shortest round. */
    static final int NEAR = 4;
    /** Windows beside others in a round, at most, where others want more than they get. */
    static final int PRESSED_MAX = 16;

    private static final double NS_PER_S = 1e9;
    private static final long WINDOW_NS = 250_000_000L;
    private static final long WINDOW_MAX_NS = 1_000_000_000L;
    private static final int ANSWERS = 100;
    /** Others are held for so long beyond each look at the time, until nobody looks any more or it is enough. */
    private static final long HOLD_NS = 100_000_000L;
    /** A window of less than this part of the last one alone asks for the next comparison at once. */
    private static final double LOW = 0.7;
    /** So do others that run for so many times as much as in the last round. */
    private static final double MORE = 2;

    private final Pace pace;
    private Phase phase = Phase.BESIDE;
    private long windowBegan = -1;
    private int completed;
    /** Windows beside others that are left of this round. */
    private int left = NEAR;
    /** Of the round: answers and time next to the time alone. */
    private int besideAnswers;
    private double besideS;
    /** In this round: threads of others that ran at a time at most, whether there were any, and whether they had to stand still. */
    private double used;
    private double usedBefore;
    private boolean wereOthers;
    private boolean wasPressed;
    private double alonePerS = Double.NaN;

    Comparison(Pace pace) {
        this.pace = pace;
    }

    /** A request of the class is over. */
    void answered(boolean wasCompleted) {
        completed += wasCompleted ? 1 : 0;
    }

    /** Whether others are held, to see how the class is alone. */
    boolean isHolding() {
        return phase == Phase.SETTLING || phase == Phase.ALONE;
    }

    /** Somebody looks at the time: as long as others are to be held, they are. */
    void hold(long now) {
        if (isHolding()) {
            pace.hold(now + HOLD_NS);
        }
    }

    /**
     * Time has passed in which the class was there.
     *
     * @param windows beside others in the next round
     * @return the round whose windows that count are over, or null
     */
    Round passed(int windows, long now) {
        if (windowBegan < 0) {
            windowBegan = now;
        }
        long took = now - windowBegan;
        boolean counts = phase == Phase.BESIDE || phase == Phase.ALONE;
        if (took < WINDOW_NS || (counts && completed < ANSWERS && took < WINDOW_MAX_NS)) {
            return null;
        }
        Round ended = null;
        switch (phase) {
            case BESIDE:
                beside(took, now);
                break;
            case SETTLING:
                phase = Phase.ALONE;
                break;
            case ALONE:
                ended = new Round(this, took / NS_PER_S);
                alonePerS = ended.alonePerS;
                usedBefore = used;
                phase = Phase.RELEASED;
                break;
            default:
                begin(windows);
        }
        windowBegan = now;
        completed = 0;
        return ended;
    }

    private void beside(long took, long now) {
        wereOthers |= pace.isActive(took, now);
        wasPressed |= pace.isPressed(took, now);
        used = Math.max(used, pace.used(now));
        if (left <= NEAR) {
            besideAnswers += completed;
            besideS += took / NS_PER_S;
        }
        left--;
        if (completed * NS_PER_S / took < LOW * alonePerS || used > MORE * usedBefore) {
            left = Math.min(left, NEAR);
        }
        if (wasPressed) {
            left = Math.min(left, PRESSED_MAX);
        }
        if (left > 0) {
            return;
        }
        if (wereOthers) {
            phase = Phase.SETTLING;
            hold(now);
        } else {
            alonePerS = besideAnswers / besideS;
            begin(NEAR);
        }
    }

    private void begin(int windows) {
        phase = Phase.BESIDE;
        left = Math.max(windows, NEAR);
        besideAnswers = 0;
        besideS = 0;
        used = 0;
        wereOthers = false;
        wasPressed = false;
    }

    /** What was being measured says nothing. */
    void resume() {
        windowBegan = -1;
        completed = 0;
        begin(NEAR);
    }

    /** What was seen in one. */
    static final class Round {
        final double besidePerS;
        /** Above 0 if anything was seen at all. */
        final double alonePerS;
        /** Of the ratio of both, as far as it follows from how many came by chance (a Poisson process). */
        final double variance;
        /** Threads of others that ran at a time, at most. */
        final double used;
        /** Whether any of them had to stand still while they were not held. */
        final boolean wasPressed;

        private Round(Comparison of, double aloneS) {
            this.besidePerS = of.besideAnswers / of.besideS;
            this.alonePerS = of.completed / aloneS;
            this.variance = 1.0 / Math.max(of.besideAnswers, 1) + 1.0 / Math.max(of.completed, 1);
            this.used = of.used;
            this.wasPressed = of.wasPressed;
        }
    }
}
