package weir.regulator.pause;

/**
 * A class completes at least a share of what it completes alone.
 *
 * <p>What it completes alone is measured again and again: others are held for half a second every few seconds, or every forty where the
 * CPUs have room ({@link Comparison}).
 *
 * <p>The share of the time that others run follows what the class loses, as the mean of the last comparisons, with the gain of an
 * integral controller: so slowly that the chance in single ones evens out, faster the longer it has risen, and at once where a loss is
 * greater than chance. It aims at half of the loss that is allowed.
 *
 * <p>Others begin with the part of the CPUs that is aimed at: where the class fills the CPUs, it completes less by what others take.
 * Where it does not, and the CPUs have room, they get more quickly.
 */
public final class ThroughputTarget extends Target {
    /** Windows beside others in a round, at most: where others want more than they get, and where they have all they want. */
    private static final int ROUND_MAX = 16;
    private static final int ROUND_MAX_IDLE = 160;
    /** Part of the CPUs' time in use up to which they have room. */
    private static final double ROOM = 0.8;
    /** The newest reading counts for so much. */
    private static final double BUSY_NEWEST = 0.5;
    /** Weight of a round in the loss that steers. */
    private static final double NEWEST = 0.25;
    /** So many rounds make up what was measured. */
    private static final int TOLD = 10;
    /** Each step is a part of the share. */
    private static final double GAIN = 1.0;
    private static final double LOSS_MAX = 0.5;
    private static final double RISE_MAX = 0.25;
    /** After so many rounds without too much of a loss a rise is twice as fast, and so on, and rounds are short. */
    private static final int DOUBLES = 4;
    /** What neighbouring windows differ by for other reasons than chance in the number of requests, as a part. */
    private static final double DRIFT = 0.05;
    /** A loss of so many standard deviations is not chance. */
    private static final double EVIDENT = 2;
    private static final double HEADROOM = 1.25;
    /** The least share, in threads: {@link Target#SHARE_MIN} costs more than a twentieth of one CPU, with the garbage that comes of it. */
    private static final double LEAST = 0.01;

    private final double promised;
    private final double aim;
    private final Comparison comparison;
    private double share;
    /** Means of the last rounds. */
    private double alonePerS;
    private double besidePerS;
    /** What the class loses, as a part of what it completes alone. */
    private double loss = Double.NaN;
    private double busy;
    /** Rounds since it lost too much. */
    private int sinceLoss = DOUBLES;
    private int windows = Comparison.NEAR;
    private int rounds;
    /** Rounds in a row with the least share. */
    private int atLeast;

    /**
     * Keeps a promise by the pace of others.
     *
     * @param promised the share of the throughput alone, above 0 and below 1
     * @param cpus how many threads can run at a time
     */
    public ThroughputTarget(double promised, Pace pace, int cpus) {
        if (!(promised > 0 && promised < 1)) {
            throw new IllegalArgumentException(promised + " is not a share above 0 and below 1");
        }
        this.promised = promised;
        this.aim = (1 + promised) / 2;
        this.comparison = new Comparison(pace);
        this.share = (1 - aim) * cpus;
    }

    @Override
    void answered(long afterNs, boolean wasCompleted, long now) {
        passed(now);
        comparison.answered(wasCompleted);
    }

    @Override
    void passed(long now) {
        Comparison.Round round = comparison.passed(windows, now);
        if (round != null) {
            measure(round);
            follow(round);
        }
    }

    @Override
    void busy(double part) {
        busy += (part - busy) * BUSY_NEWEST;
    }

    @Override
    void resume() {
        comparison.resume();
    }

    private void measure(Comparison.Round round) {
        double seenPerS = round.alonePerS + (round.besidePerS - round.alonePerS) * round.besidePart;
        rounds++;
        double weight = 1.0 / Math.min(rounds, TOLD);
        alonePerS += weight * (round.alonePerS - alonePerS);
        besidePerS += weight * (seenPerS - besidePerS);
        atLeast = share > LEAST ? 0 : atLeast + 1;
    }

    private void follow(Comparison.Round round) {
        double allowed = 1 - aim;
        double lost = (1 - round.besidePerS / Math.max(round.alonePerS, 1e-9)) * round.besidePart;
        loss = Double.isNaN(loss) ? lost : loss + NEWEST * (lost - loss);
        boolean hasRoom = busy <= ROOM;
        boolean isEvident = lost - allowed > EVIDENT * Math.sqrt(DRIFT * DRIFT + round.variance);
        double known = DRIFT * DRIFT / (DRIFT * DRIFT + round.variance);
        if (isEvident) {
            fall(Math.min(GAIN * (lost - allowed), LOSS_MAX), round);
        } else if (loss > allowed) {
            fall(GAIN * (loss - allowed) * known, round);
        } else {
            sinceLoss++;
            if (round.wasPressed) {
                double slow = GAIN * (allowed - loss) * Math.pow(2, (double) sinceLoss / DOUBLES) * known;
                share *= 1 + Math.min(hasRoom ? RISE_MAX * Math.sqrt(known) : slow, RISE_MAX);
            }
        }
        boolean isFar = isEvident || (round.wasPressed && (hasRoom || sinceLoss >= DOUBLES));
        windows = isFar ? Comparison.NEAR : Math.min(windows * 2, round.wasPressed ? ROUND_MAX : ROUND_MAX_IDLE);
    }

    private void fall(double by, Comparison.Round round) {
        double from = round.wasPressed ? share : Math.min(share, round.used * HEADROOM);
        share = Math.max(from * (1 - by), LEAST);
        sinceLoss = 0;
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
        return atLeast < TOLD ? State.REGAINED : State.IMPOSSIBLE;
    }

    @Override
    double measured() {
        return rounds == 0 ? Double.NaN : besidePerS / alonePerS;
    }

    @Override
    long graceNs() {
        return PauseRules.DEFAULT.stretchMinNs;
    }
}
