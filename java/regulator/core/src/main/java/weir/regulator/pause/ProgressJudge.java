package weir.regulator.pause;

/**
 * Judges the progress of one kind of work, however many threads do it.
 *
 * <p>Progress-based regulation (Douceur and Bolosky 1999, "Progress-based regulation of low-importance processes", SOSP). If the
 * work makes less progress than it makes usually, somebody else needs what it uses, whatever that is, and it pauses. One slow
 * stretch says nothing, so a {@link SignTest} judges. Poor: pause, twice as long as the last time, up to a maximum. Good: the
 * next pause is the shortest again. Otherwise it is not decided yet.
 *
 * <p>The sign test alone answers contention that begins while it is undecided after 12 stretches at the median. So it has a
 * second reason for poor: the last seven stretches were each slower than three quarters of the usual ones. Undisturbed work does
 * that with a chance of 0.25^7, or 6 in 100,000, a stretch; work that is disturbed enough for it is answered after seven, always.
 *
 * <p>What is usual is the ratio of the means of progress and time: plain over the first stretches, then exponential over 10,000.
 * No verdict falls in the first 100, in which it is learnt. α is looked at after every stretch, so work that nobody disturbs is
 * judged poor more often than once in 1/α verdicts: with α = 0.01 and β = 0.2 about once in 1,000 stretches, which costs 0.07 %
 * of the time with stretches of 3 ms and a shortest pause of 2 ms.
 *
 * <p>It assumes that contention hurts both sides alike, and that a stretch of the same progress takes the same time. Contention
 * that lasts becomes usual, after some 10,000 stretches: what must not fade is a promise, and a matter of {@link Pace}.
 */
public final class ProgressJudge {
    /** Stretches before the first verdict. */
    private static final double CALIBRATION = 100.0;
    /** Stretches over which what is usual is taken. */
    private static final double MEMORY = 10_000.0;

    /** So many in a row that are slower than three quarters. */
    private static final int RUN = 7;
    private static final double QUARTILE = 0.75;
    /** How far one stretch moves what three quarters take: at first, over the number of stretches, and at least. */
    private static final double QUARTILE_STEP = 0.5;
    private static final double QUARTILE_STEP_MIN = 2e-4;

    private final PauseRules rules;
    private final SignTest test;
    private final boolean seesRuns;
    /** The time per progress within which three quarters of the stretches are. */
    private double quartileS;
    private int run;
    /** What is usual: means of progress and seconds, and of how many stretches. */
    private double meanDone;
    private double meanS;
    private double stretches;
    /** Since the last verdict. */
    private int lookedAt;
    private int slow;
    private long nextPauseNs;
    private long poorVerdicts;
    private long goodVerdicts;

    /** Work of which nothing is known. */
    public ProgressJudge(PauseRules rules) {
        this(rules, true);
    }

    private ProgressJudge(PauseRules rules, boolean seesRuns) {
        this.rules = rules;
        this.seesRuns = seesRuns;
        this.test = new SignTest(rules.alpha, rules.beta);
        this.nextPauseNs = rules.pauseMinNs;
    }

    /** Judges by the sign test and nothing else, as the vectors do. */
    public static ProgressJudge bySignTestAlone(PauseRules rules) {
        return new ProgressJudge(rules, false);
    }

    /** How it judges. */
    public PauseRules rules() {
        return rules;
    }

    /**
     * A stretch is over.
     *
     * @param done progress in it; a stretch is not judged in which it is not above 0 or not finite
     * @param tookNs how long it took, without pauses and collections of garbage
     * @return for how many nanoseconds whoever made it is to pause; 0: not at all
     */
    public synchronized long judge(double done, long tookNs) {
        if (!(done > 0 && done < Double.POSITIVE_INFINITY)) {
            return 0;
        }
        double tookS = tookNs / 1_000_000_000L + tookNs % 1_000_000_000L / 1e9;
        boolean isSlow = tookS * meanDone > done * meanS;
        boolean isCalibrated = stretches >= CALIBRATION;
        stretches = Math.min(stretches + 1, MEMORY);
        countRun(tookS / done);
        meanDone += (done - meanDone) / stretches;
        meanS += (tookS - meanS) / stretches;
        return isCalibrated ? verdict(isSlow) : 0;
    }

    /** Counts stretches in a row that are slower than three quarters, and follows that quartile (Robbins and Monro 1951). */
    private void countRun(double perProgressS) {
        if (stretches == 1) {
            quartileS = perProgressS;
        }
        boolean isAbove = perProgressS > quartileS;
        run = isAbove ? run + 1 : 0;
        double step = Math.max(QUARTILE_STEP / stretches, QUARTILE_STEP_MIN);
        quartileS *= 1 + step * (isAbove ? QUARTILE : QUARTILE - 1);
    }

    private long verdict(boolean isSlow) {
        lookedAt++;
        slow += isSlow ? 1 : 0;
        if (test.isPoor(slow, lookedAt) || (seesRuns && run >= RUN)) {
            long pause = nextPauseNs;
            nextPauseNs = Math.min(pause * 2, rules.pauseMaxNs);
            poorVerdicts++;
            run = 0;
            begin();
            return pause;
        }
        if (test.isGood(slow, lookedAt)) {
            nextPauseNs = rules.pauseMinNs;
            goodVerdicts++;
            begin();
        } else if (lookedAt == SignTest.STRETCHES_MAX) {
            begin();
        }
        return 0;
    }

    private void begin() {
        lookedAt = 0;
        slow = 0;
    }

    /** Whether enough is known for verdicts. */
    public synchronized boolean isCalibrated() {
        return stretches >= CALIBRATION;
    }

    /** Usual progress per second; 0 before any. */
    public synchronized double usualPerSecond() {
        return meanS > 0 ? meanDone / meanS : 0;
    }

    /** How long the next pause would be, in nanoseconds. */
    public synchronized long nextPauseNs() {
        return nextPauseNs;
    }

    /** Verdicts that progress was poor. */
    public synchronized long poorVerdicts() {
        return poorVerdicts;
    }

    /** Verdicts that progress was good. */
    public synchronized long goodVerdicts() {
        return goodVerdicts;
    }
}
