package weir.regulator.pause;

/**
 * Whether others are to blame where answers are late though they hardly run.
 *
 * <p>After ten seconds at the least share they get a fair part of the time for two. If more is late then, it helps to hold them, even if
 * not enough, and they stay at the least share. Otherwise they are not the cause, to starve them mends nothing, and they keep the
 * fair part. Either is asked again after ten seconds, and after twice as long each time until all is in order, up to 160 s.
 */
final class Blame {
    /** So long at the least share without success, until it counts as not to be mended. */
    private static final double HOPELESS_S = 10;
    /** The same once it has been found that others are not the cause. */
    private static final double HOPELESS_AGAIN_S = 3;
    private static final double COMPARE_S = 2;
    private static final double AGAIN_MIN_S = 10;
    private static final double AGAIN_MAX_S = 160;
    /** So many times as many are late where it helps to hold others. */
    private static final double WORSE = 1.5;

    private enum Phase {
        /** Others are held to the least share. */
        HELD,
        /** They have a fair part, to compare. */
        COMPARED,
        /** They have it because they are not the cause. */
        RELIEVED
    }

    private static final class Count {
        private long answers;
        private long late;

        void add(long answers, long late) {
            this.answers += answers;
            this.late += late;
        }

        double latePart() {
            return (double) late / Math.max(answers, 1);
        }
    }

    private Phase phase = Phase.HELD;
    private double leftS = HOPELESS_S;
    private double againS = AGAIN_MIN_S;
    private boolean impossible;
    private Count held = new Count();
    private Count fair = new Count();

    /** Whether others have a fair part, whatever is late. */
    boolean isFair() {
        return phase != Phase.HELD;
    }

    /** Whether too many are late though others hardly run. */
    boolean isImpossible() {
        return impossible;
    }

    /** Nothing is overdrawn any more. */
    void inOrder() {
        impossible = false;
        againS = AGAIN_MIN_S;
        hold(HOPELESS_S);
    }

    /** Some time at the least share or a fair one is over, in which so many of the answers were late. */
    void late(double seconds, long answers, long late) {
        (isFair() ? fair : held).add(answers, late);
        leftS -= seconds;
        if (leftS > 0) {
            return;
        }
        switch (phase) {
            case HELD:
                impossible = true;
                phase = Phase.COMPARED;
                leftS = COMPARE_S;
                fair = new Count();
                break;
            case COMPARED:
                if (fair.latePart() > WORSE * held.latePart()) {
                    hold(againS);
                } else {
                    phase = Phase.RELIEVED;
                    leftS = againS;
                }
                againS = Math.min(2 * againS, AGAIN_MAX_S);
                break;
            default:
                hold(HOPELESS_AGAIN_S);
        }
    }

    private void hold(double seconds) {
        phase = Phase.HELD;
        leftS = seconds;
        held = new Count();
    }
}
