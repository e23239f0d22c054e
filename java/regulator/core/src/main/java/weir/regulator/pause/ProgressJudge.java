package weir.regulator.pause;

/**
 * Judges the progress of one kind of work, however many threads do it.
 *
 * <p>Progress-based regulation (Douceur and Bolosky 1999, "Progress-based regulation of low-importance processes", SOSP). If the
 * work makes less progress than it makes usually, somebody else needs what it uses, whatever that is, and it pauses. One slow
 * stretch says nothing, so a {@link SignTest} judges. Poor: pause, twice as long as the last time, up to a maximum. Good: the
 * next pause is the shortest again. Otherwise it is not decided yet.
 *
 * <p>The sign test alone answers contention that begins while it is undecided after 12 stretches at the median, and never one that
 * leaves every other stretch as short as ever, as a neighbour does that takes whole slices of the scheduler's: a stretch goes by in a
 * slice of its own, and the next one has the neighbour's in it. So there are two more reasons for poor ({@link LastSeven}): the
 * last seven stretches of a piece of work were each slower than three quarters of the usual ones, or four of them slower than nineteen in
 * twenty. Undisturbed work does the first with a chance of 0.25^7, or 6 in 100,000, a stretch, and the second with one of 19 in 100,000; work
 * that is disturbed enough for either, such as by slices no longer than two stretches, is answered after seven.
 *
 * <p>What is usual is the ratio of the means of progress and time: plain over the first stretches, then exponential over 10,000.
 * No verdict falls in the first 100, in which it is learnt. α is looked at after every stretch, so work that nobody disturbs is
 * judged poor more often than once in 1/α verdicts: with α = 0.01 and β = 0.2 about once in 900 stretches by the sign test and in 770 for
 * all three reasons, which costs 0.09 % of the time with stretches of 3 ms and a shortest pause of 2 ms (ten million stretches).
 *
 * <p>Whoever is slower on the CPU itself, because the clock, the host or the compiled code is, waits for nobody: where the time on the CPU is
 * told, work pauses only if at least a quarter of what its progress takes longer is time off it, more than the usual share beside the time on
 * it. (A neighbour that takes the CPU leaves the caches cold as well, so that both grow.) If not, and it is a tenth or more, what is usual is
 * learnt over the next 200 stretches.
 *
 * <p>It assumes that contention hurts both sides alike, and that a stretch of the same progress takes the same time. Contention
 * that lasts becomes usual, after some 10,000 stretches (4,000 where only every other one is slow): what must not fade is a promise, and a
 * matter of {@link Pace}.
 */
public final class ProgressJudge {
    /** Stretches before the first verdict. */
    private static final double CALIBRATION = 100.0;
    /** Stretches over which what is usual is taken. */
    private static final double MEMORY = 10_000.0;
    /** The same where contention was found: four of seven become usual with 14 slow ones in the sample, which is to take some thousands, too. */
    private static final double MEMORY_CONTENDED = 4 * MEMORY;
    /** The same once it has changed by itself. */
    private static final double MEMORY_CHANGED = 200.0;
    /** Progress in one stretch counts for at most so many usual ones: else a single slip would spoil what is usual for thousands. */
    private static final double LEAP_MAX = 100.0;
    /** Part of the usual time from which on a change is none of chance. */
    private static final double CHANGED = 0.1;
    /** The part of what progress takes longer that is spent off the CPU, from which on it is somebody else's doing. */
    private static final double WAITED = 0.25;
    /** Part of the time on the CPU, below which work waits for something else than for its like, which a slower CPU does not make longer. */
    private static final double ON_CPU_MIN = 0.05;

    private final PauseRules rules;
    private final SignTest test;
    private final boolean seesLastSeven;
    private final UsualTimes usualTimes = new UsualTimes();
    /** Of work that does not say which it is. */
    private final LastSeven lastSeven = new LastSeven();
    /** What is usual: means of progress and seconds, and of how many stretches. */
    private double meanDone;
    private double meanS;
    private double stretches;
    /** Usual time per progress, and time off the CPU per progress, of the stretches of which that is told. */
    private final TimePerProgress usual = new TimePerProgress();
    /** The same since the last verdict. */
    private final TimePerProgress lately = new TimePerProgress();
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

    private ProgressJudge(PauseRules rules, boolean seesLastSeven) {
        this.rules = rules;
        this.seesLastSeven = seesLastSeven;
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
     * A stretch is over of the one piece of work that is judged.
     *
     * @param done progress in it; a stretch is not judged in which it is not above 0 or not finite
     * @param tookNs how long it took, without pauses and collections of garbage
     * @return for how many nanoseconds whoever made it is to pause; 0: not at all
     */
    public long judge(double done, long tookNs) {
        return judge(done, tookNs, lastSeven, () -> {});
    }

    /**
     * A stretch is over.
     *
     * @param lastSeven of the piece of work that made it
     * @param onCpu is asked to {@link #tell} of it, and of those before it that have not been told of, where that decides
     * @see #judge(double, long)
     */
    public long judge(double done, long tookNs, LastSeven lastSeven, Runnable onCpu) {
        if (!isProgress(done) || !looksPoor(done, seconds(tookNs), lastSeven)) {
            return 0;
        }
        // Where the kernel is asked for the time on the CPU it may take the CPU away: nobody is to wait for that.
        onCpu.run();
        return pauseNs(lastSeven);
    }

    private synchronized boolean looksPoor(double done, double tookS, LastSeven lastSeven) {
        boolean isSlow = tookS * meanDone > done * meanS;
        boolean isCalibrated = isCalibrated();
        stretches = Math.min(stretches + 1, MEMORY);
        lastSeven.add(tookS / done, usualTimes, stretches);
        meanDone += (atMost(done, 1, isCalibrated) - meanDone) / stretches;
        meanS += (tookS - meanS) / stretches;
        return isCalibrated && isPoor(isSlow, lastSeven);
    }

    /**
     * For how long a thread had a CPU in stretches that it has made: the one that is being judged or comes next, and some before it.
     *
     * @param count how many stretches
     * @param done progress in all of them
     * @param tookNs how long they took, without pauses and collections of garbage
     * @param onCpuNs for how long of that the thread had a CPU
     */
    public synchronized void tell(int count, double done, long tookNs, long onCpuNs) {
        if (!isProgress(done)) {
            return;
        }
        double counted = atMost(done, count, isCalibrated());
        double tookS = seconds(tookNs);
        double offS = Math.max(0, tookNs - onCpuNs) / 1e9;
        usual.add(counted, tookS, offS, Math.min(count / Math.min(stretches + 1, MEMORY), 1));
        lately.add(counted, tookS, offS, 1);
    }

    private static boolean isProgress(double done) {
        return done > 0 && done < Double.POSITIVE_INFINITY;
    }

    private static double seconds(long nanos) {
        return nanos / 1_000_000_000L + nanos % 1_000_000_000L / 1e9;
    }

    private boolean isCalibrated() {
        return stretches >= CALIBRATION;
    }

    /** Progress of so many stretches, no more than counts. */
    private double atMost(double done, int count, boolean isCalibrated) {
        return isCalibrated ? Math.min(done, LEAP_MAX * meanDone * count) : done;
    }

    private boolean isPoor(boolean isSlow, LastSeven lastSeven) {
        lookedAt++;
        slow += isSlow ? 1 : 0;
        if (test.isPoor(slow, lookedAt) || (seesLastSeven && lastSeven.areSlow())) {
            return true;
        }
        if (test.isGood(slow, lookedAt)) {
            nextPauseNs = rules.pauseMinNs;
            goodVerdicts++;
            double shorterS = -longerS();
            if (isItself(shorterS, -waitedS())) {
                changed(shorterS);
            }
            begin();
        } else if (lookedAt == SignTest.STRETCHES_MAX) {
            begin();
        }
        return false;
    }

    /** What looks poor is answered so, unless it is slower by itself. */
    private synchronized long pauseNs(LastSeven lastSeven) {
        if (usual.done > 0 && lately.done == 0) {
            // Another thread has just been answered.
            return 0;
        }
        double longerS = longerS();
        if (isItself(longerS, waitedS())) {
            changed(longerS);
            lastSeven.begin(usualTimes, stretches);
            begin();
            return 0;
        }
        if (lately.done > 0) {
            // What is known to be contention is not to become usual soon.
            stretches = MEMORY;
        }
        long pause = nextPauseNs;
        nextPauseNs = Math.min(pause * 2, rules.pauseMaxNs);
        poorVerdicts++;
        lastSeven.begin(usualTimes, MEMORY_CONTENDED);
        begin();
        return pause;
    }

    /** By how much the time per progress exceeded the usual one since the last verdict. */
    private double longerS() {
        return lately.tookS() - usual.tookS();
    }

    /** How much of that was time off the CPU, beyond the usual share beside the time on it. */
    private double waitedS() {
        boolean waitsForCpu = usual.onS() >= ON_CPU_MIN * usual.tookS();
        return lately.offS() - usual.offS() * (waitsForCpu ? lately.onS() / usual.onS() : 1);
    }

    /**
     * Whether progress takes another time than usual on the CPU itself, or by chance, and not for waits; false where that is not told.
     *
     * @param tookS the change since the last verdict, of the time per progress
     * @param offS of that, the change off the CPU, beyond what the change on it explains
     */
    private boolean isItself(double tookS, double offS) {
        boolean waits = tookS > 0 && offS >= WAITED * tookS;
        return lately.done > 0 && !waits;
    }

    /** What is usual has changed by so much: if that is no chance, the last stretches count more. */
    private void changed(double byS) {
        if (byS > CHANGED * usual.tookS()) {
            stretches = Math.min(stretches, MEMORY_CHANGED);
        }
    }

    private void begin() {
        lookedAt = 0;
        slow = 0;
        lately.forget();
    }

    /** How long progress takes, and how much of that is off the CPU: means or sums. */
    private static final class TimePerProgress {
        private double done;
        private double tookS;
        private double offS;

        /** Weighs 1 for a sum. */
        void add(double done, double tookS, double offS, double weight) {
            double kept = weight == 1 ? 1 : 1 - weight;
            this.done = kept * this.done + weight * done;
            this.tookS = kept * this.tookS + weight * tookS;
            this.offS = kept * this.offS + weight * offS;
        }

        void forget() {
            done = 0;
            tookS = 0;
            offS = 0;
        }

        /** Per progress; no number before anything was added. */
        double tookS() {
            return tookS / done;
        }

        /** The same of the time off the CPU. */
        double offS() {
            return offS / done;
        }

        /** The same of the time on it. */
        double onS() {
            return tookS() - offS();
        }
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
