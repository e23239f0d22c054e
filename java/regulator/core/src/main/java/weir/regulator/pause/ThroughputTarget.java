package weir.regulator.pause;

/**
 * A class completes at least a share of what it completes alone.
 *
 * <p>What it completes alone is measured again and again: others are held for half a second every few seconds, or every forty where they
 * have all they ask for ({@link Comparison}); for longer where few answers come.
 *
 * <p>The share of the time that others run follows what the class loses, as the mean of the last comparisons, with the gain of an
 * integral controller: so slowly that the chance in single ones evens out, faster the longer it has risen, and at once where a loss is
 * greater than chance. It aims at half of the loss that is allowed.
 *
 * <p>Others begin with the part of the CPUs that is aimed at: where the class fills the CPUs, it completes less by what others take.
 * Where it does not, and the CPUs have room, they get more quickly.
 */
public final class ThroughputTarget extends Target {
    /** Windows beside others in a round, at most, where they have all they ask for. */
    private static final int IDLE_MAX = 160;
    /** Part of the CPUs' time in use up to which they have room. */
    private static final double ROOM = 0.8;
    /** The newest reading counts for so much. */
    private static final double BUSY_NEWEST = 0.5;
    /** Weight of a round in what steers, and so many rounds make up what was measured. */
    private static final double NEWEST = 0.25;
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
    private final Means recent = new Means();
    private final Means told = new Means();
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
        look(now);
        comparison.answered(wasCompleted);
    }

    @Override
    void passed(long now) {
        comparison.hold(now);
        // Between two requests it is not known whether another comes.
        if (inFlight > 0) {
            look(now);
        }
    }

    @Override
    void busy(double part) {
        if (!comparison.isHolding()) {
            busy += (part - busy) * BUSY_NEWEST;
        }
    }

    @Override
    void resume() {
        comparison.resume();
    }

    private void look(long now) {
        comparison.hold(now);
        Comparison.Round round = comparison.passed(windows, now);
        if (round != null && round.alonePerS > 0) {
            rounds++;
            recent.add(round, Math.max(NEWEST, 1.0 / rounds));
            told.add(round, 1.0 / Math.min(rounds, TOLD));
            atLeast = share > LEAST ? 0 : atLeast + 1;
            follow(round);
        }
    }

    private void follow(Comparison.Round round) {
        double allowed = 1 - aim;
        double tooMuch = 1 - recent.ratio() - allowed;
        double tooMuchNow = 1 - round.besidePerS / round.alonePerS - allowed;
        double known = DRIFT * DRIFT / (DRIFT * DRIFT + round.variance);
        boolean isEvident = tooMuchNow > EVIDENT * Math.sqrt(DRIFT * DRIFT + round.variance);
        // Others may have had to stand still for another promise.
        boolean isLimit = round.wasPressed && round.used * 2 > share;
        boolean hasRoom = busy <= ROOM;
        if (isEvident) {
            fall(Math.min(GAIN * tooMuchNow, LOSS_MAX), isLimit, round);
        } else if (tooMuch > 0) {
            fall(Math.min(GAIN * tooMuch * known, LOSS_MAX), isLimit, round);
        } else {
            sinceLoss++;
            if (isLimit) {
                double slow = -GAIN * tooMuch * Math.pow(2, (double) sinceLoss / DOUBLES) * known;
                share *= 1 + Math.min(hasRoom ? RISE_MAX * Math.sqrt(known) : slow, RISE_MAX);
            }
        }
        boolean isFar = isEvident || (isLimit && (hasRoom || sinceLoss >= DOUBLES));
        int most = round.wasPressed ? Comparison.PRESSED_MAX : IDLE_MAX;
        windows = isFar ? Comparison.NEAR : Math.min(windows * 2, most);
    }

    private void fall(double by, boolean isLimit, Comparison.Round round) {
        double from = isLimit ? share : Math.min(share, round.used * HEADROOM);
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
        return rounds == 0 ? Double.NaN : told.ratio();
    }

    @Override
    long graceNs() {
        return PauseRules.DEFAULT.stretchMinNs;
    }

    /** Means of rounds: of both throughputs, and not of their ratio, which a window alone with few answers by chance would spoil. */
    private static final class Means {
        private double besidePerS;
        private double alonePerS;

        void add(Comparison.Round round, double weight) {
            besidePerS += weight * (round.besidePerS - besidePerS);
            alonePerS += weight * (round.alonePerS - alonePerS);
        }

        double ratio() {
            return besidePerS / alonePerS;
        }
    }
}
