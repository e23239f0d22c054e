package weir.regulator.pause;

/**
 * What a class completes beside others and alone, in neighbouring windows of time: the machine's own speed, and how many requests come,
 * change from second to second by more than a promise allows others to cost, and neighbours share most of that.
 *
 * <p>A round: some windows in which others run, of which the last {@value #NEAR} count; others are held for one window, that what they
 * left behind is worked off; for a second one, which counts as alone; and they go on in a last one that counts for neither. Windows last
 * a quarter of a second; where few answers come, those that count are longer, up to a second.
 *
 * <p>Not safe for threads: its target is guarded by {@link Targets}.
 */
final class Comparison {
    /** What a window is about. */
    private enum Phase {
        /** Others run. */
        BESIDE,
        /** Others have just been held. */
        SETTLING,
        /** Others are held. */
        ALONE,
        /** Others run again since some moment in it. */
        RELEASED
    }

    /** Windows beside others next to the one alone. */
    static final int NEAR = 4;

    private static final double NS_PER_S = 1e9;
    private static final long WINDOW_NS = 250_000_000L;
    private static final long WINDOW_MAX_NS = 1_000_000_000L;
    private static final int ANSWERS = 100;
    /** Others are held for so long beyond each look at the time, until nobody looks any more or it is enough. */
    private static final long HOLD_NS = 100_000_000L;
    /** A window of less than this part of the last one alone asks for the next comparison at once. */
    private static final double LOW = 0.7;

    private final Pace pace;
    private Phase phase = Phase.BESIDE;
    private long windowBegan = -1;
    private int completed;
    /** Windows beside others that are left of this round. */
    private int left = NEAR;
    /** Of the round: answers and time beside others next to the time alone; and all time beside others. */
    private int besideAnswers;
    private double besideS;
    private double roundS;
    /** Beside others in this round: threads of them that ran at a time at most, and whether any of them had to stand still. */
    private double used;
    private boolean wasPressed;
    private double alonePerS = Double.NaN;

    Comparison(Pace pace) {
        this.pace = pace;
    }

    /** A request of the class is over. */
    void answered(boolean wasCompleted) {
        completed += wasCompleted ? 1 : 0;
    }

    /**
     * Time has passed.
     *
     * @param windows beside others in the next round
     * @return the round that has ended, or null
     */
    Round passed(int windows, long now) {
        if (windowBegan < 0) {
            windowBegan = now;
        }
        if (phase == Phase.SETTLING || phase == Phase.ALONE) {
            pace.hold(now + HOLD_NS);
        }
        long took = now - windowBegan;
        boolean counts = phase == Phase.BESIDE || phase == Phase.ALONE;
        if (took < WINDOW_NS || (counts && completed < ANSWERS && took < WINDOW_MAX_NS)) {
            return null;
        }
        Round ended = took < 2 * WINDOW_MAX_NS ? ended(took, now) : missed();
        windowBegan = now;
        completed = 0;
        if (ended != null) {
            begin(windows);
        }
        return ended;
    }

    private Round ended(long took, long now) {
        switch (phase) {
            case BESIDE:
                beside(took, now);
                return null;
            case SETTLING:
                phase = Phase.ALONE;
                return null;
            case ALONE:
                phase = Phase.RELEASED;
                alonePerS = completed * NS_PER_S / took;
                return new Round(this, took / NS_PER_S);
            default:
                phase = Phase.BESIDE;
                return null;
        }
    }

    /** Nobody has looked at the time for long: the class was not there. */
    private Round missed() {
        resume();
        return null;
    }

    private void beside(long took, long now) {
        if (!pace.isActive(took, now)) {
            // Nobody else was there.
            alonePerS = completed * NS_PER_S / took;
            begin(NEAR);
            return;
        }
        if (left > NEAR && completed * NS_PER_S / took < LOW * alonePerS) {
            left = NEAR;
        }
        roundS += took / NS_PER_S;
        if (left <= NEAR) {
            besideAnswers += completed;
            besideS += took / NS_PER_S;
        }
        used = Math.max(used, pace.used(now));
        wasPressed |= pace.isPressed(took, now);
        left--;
        if (left <= 0) {
            phase = Phase.SETTLING;
            pace.hold(now + HOLD_NS);
        }
    }

    private void begin(int windows) {
        left = Math.max(windows, NEAR);
        besideAnswers = 0;
        besideS = 0;
        roundS = 0;
        used = 0;
        wasPressed = false;
    }

    /** What was being measured says nothing. */
    void resume() {
        windowBegan = -1;
        completed = 0;
        phase = Phase.BESIDE;
        begin(NEAR);
    }

    /** What was seen in one. */
    static final class Round {
        final double besidePerS;
        final double alonePerS;
        /** Part of the round's time in which others were not held. */
        final double besidePart;
        /** Of the ratio of both, as far as it follows from how many came by chance (a Poisson process). */
        final double variance;
        /** Threads of others that ran at a time, at most. */
        final double used;
        /** Whether any of them had to stand still while they were not held. */
        final boolean wasPressed;

        private Round(Comparison of, double aloneS) {
            this.besidePerS = of.besideAnswers / of.besideS;
            this.alonePerS = of.completed / aloneS;
            this.besidePart = of.roundS / (of.roundS + 2 * aloneS);
            this.variance = 1.0 / Math.max(of.besideAnswers, 1) + 1.0 / Math.max(of.completed, 1);
            this.used = of.used;
            this.wasPressed = of.wasPressed;
        }
    }
}
