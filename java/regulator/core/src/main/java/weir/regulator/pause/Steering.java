package weir.regulator.pause;

/**
 * Finds the largest share of the time that others may run so that no more of the answers are late than are allowed.
 *
 * <p>Answers are counted in windows of a quarter of a second, and what counts is a budget: a second's worth of it is about as many
 * late ones as are allowed in a second. Late answers come in bursts, because what delays one, such as a collection of garbage, delays
 * all that are there. So a burst is not proof against the share as so many late ones would be that came one by one: the share goes
 * down by an amount that grows with what was overdrawn, by half at most, and rises again only when the overdrawn budget has been
 * saved up. With a rise of r a second and a loss of g for each second's worth, the budget is used to r / (r + g) where it rests,
 * which is five eighths at first, and more the longer it has risen.
 *
 * <p>It rises slowly where it last went wrong, faster the longer that was, and fast below seven tenths of that; and no more than
 * what was counted can carry: in a class of few requests it says little that nothing was late for a while.
 *
 * <p>It does not rise where the CPUs are nearly full: a collection of garbage that runs beside the requests, or a compiler, would find
 * them full, and what piles up in such a moment would hardly drain. Answers say that too late: they are in time until it happens.
 *
 * <p>After an overload, answers to requests that came before the share went down say nothing about it, and do not count. Otherwise
 * what has piled up would hold others down long after.
 *
 * <p>If answers are still late when others hardly run, it is asked whether those are to blame at all ({@link Blame}).
 */
final class Steering {
    private static final double NS_PER_S = 1e9;
    private static final long WINDOW_NS = 250_000_000L;
    private static final double WINDOW_MAX_S = 1;
    /** After an overload: until those who run have come to a checkpoint and what they delayed is gone, about the longest answer. */
    private static final long SETTLE_MIN_NS = 50_000_000L;
    private static final long SETTLE_MAX_NS = 1_000_000_000L;
    /** On the logarithm of the share: for a second's worth of budget, and for one answer where they are few; and a window's most. */
    private static final double LOSS = 0.15;
    private static final double LOSS_OF_ONE = 0.15;
    private static final double LOSS_MAX = Math.log(2);
    /** Where more answers are late than halfway from those that are allowed to all. */
    private static final double LOSS_MAX_OVERLOADED = Math.log(4);
    /**
     * What has to be saved up, at most, in seconds' worth: where others hardly run, or after an overload, which says little about what
     * would do; and so much more where they have a fair part: they can afford to wait.
     */
    private static final double DEBT_MAX_S = 2;
    private static final double DEBT_MAX_FAIR_S = 8;
    /** On the logarithm, a second: near where it went wrong, and below; and for each late answer that was allowed and did not come. */
    private static final double RISE = 0.25;
    private static final double RISE_FAST = 1.5;
    /** The slow rise is twice as fast after so long without a loss, and so on. */
    private static final double DOUBLES_S = 1.5;
    private static final double RISE_OF_ONE = 0.1;
    private static final double NEAR = 0.7;
    /** Part of the CPUs' time in use above which others get no more of it; and above which they get less. */
    private static final double BUSY = 0.8;
    private static final double FULL = 0.87;
    /** The newest reading counts for so much. */
    private static final double BUSY_NEWEST = 0.5;
    /** Threads for each CPU that are fair. */
    private static final double FAIR = 0.25;
    /** Threads for each CPU with which it begins. */
    private static final double FIRST = 0.1;

    private final double allowed;
    private final int cpus;
    private double share;
    /** Where it last went wrong. */
    private double wrongAt;
    private double debtS;
    /** Since nothing was overdrawn. */
    private boolean wasOverloaded;
    /** How long it has risen. */
    private double sinceLossS;
    /** Part of the CPUs' time in use of late. */
    private double busy;
    private final Blame blame = new Blame();
    /** Requests that came before do not count. */
    private long countsFrom = Long.MIN_VALUE;
    private long windowBegan = -1;
    private long answers;
    private long late;
    private long longestNs;

    /**
     * Others begin with little, before anything is known: what twenty of them make at once each collection of garbage has to go
     * through long after.
     *
     * @param allowed part of the answers that may be late
     * @param cpus how many threads can run at a time
     */
    Steering(double allowed, int cpus) {
        this.allowed = allowed;
        this.cpus = cpus;
        this.share = Math.max(FIRST * cpus, Target.SHARE_MIN);
        this.wrongAt = share / NEAR;
    }

    /** Threads of others that may run at a time, on average. */
    double share() {
        return share;
    }

    /** Whether too many are late though others hardly run. */
    boolean isImpossible() {
        return blame.isImpossible();
    }

    /** This part of the CPUs' time was in use since the last reading. */
    void busy(double part) {
        busy += (part - busy) * BUSY_NEWEST;
    }

    /**
     * An answer came in time or not.
     *
     * @param afterNs after so long
     * @param used threads of others that ran at a time of late
     * @param pressed whether any of them had to stand still of late
     * @return whether it counts anew from here on: what was measured before is of no use any more
     */
    boolean answered(boolean inTime, long afterNs, double used, boolean pressed, long now) {
        if (now - afterNs < countsFrom) {
            return false;
        }
        if (windowBegan < 0) {
            windowBegan = now;
        }
        answers++;
        longestNs = Math.max(longestNs, afterNs);
        late += inTime ? 0 : 1;
        long took = now - windowBegan;
        if (took < WINDOW_NS) {
            return false;
        }
        long countedFrom = countsFrom;
        judge(Math.min(took / NS_PER_S, WINDOW_MAX_S), used, pressed, now);
        windowBegan = Math.max(now, countsFrom);
        answers = 0;
        late = 0;
        longestNs = 0;
        return countsFrom != countedFrom;
    }

    private void judge(double seconds, double used, boolean pressed, long now) {
        double overdrawnS = seconds * ((double) late / answers - allowed) / (allowed * (1 - allowed));
        wasOverloaded |= isOverloaded();
        debtS = Math.min(Math.max(debtS + overdrawnS, 0), mostDebtS());
        if (debtS == 0) {
            wasOverloaded = false;
            blame.inOrder();
        }
        if (blame.isFair()) {
            blame(seconds, now);
        } else if (overdrawnS > 0) {
            lose(overdrawnS, seconds, pressed ? share : Math.min(share, used), now);
        } else if (debtS == 0) {
            rise(seconds, pressed);
        }
    }

    private double mostDebtS() {
        return wasOverloaded ? DEBT_MAX_S : DEBT_MAX_S + DEBT_MAX_FAIR_S * Math.min(share / (FAIR * cpus), 1);
    }

    private boolean isOverloaded() {
        return late > answers * (1 + allowed) / 2 && late * LOSS_OF_ONE > LOSS_MAX;
    }

    private void lose(double overdrawnS, double seconds, double from, long now) {
        if (share <= Target.SHARE_MIN) {
            blame(seconds, now);
            return;
        }
        boolean isOverloaded = isOverloaded();
        double loss = isOverloaded
                ? LOSS_MAX_OVERLOADED
                : Math.min(Math.min(LOSS * overdrawnS, LOSS_OF_ONE * late), LOSS_MAX);
        // In an overload more than there are CPUs do not run at a time but wait for each other.
        double most = isOverloaded ? Math.min(from, cpus) : from;
        double wrong = Math.max(most, Target.SHARE_MIN);
        share = Math.max(wrong * Math.exp(-loss), Target.SHARE_MIN);
        sinceLossS = 0;
        if (isOverloaded) {
            // It was far too much: where it begins to be too much is to be found from below.
            wrongAt = share / NEAR;
            settle(now);
            return;
        }
        // A small loss says little about where it goes wrong.
        wrongAt *= Math.pow(wrong / wrongAt, Math.min(loss / LOSS, 1));
    }

    private void rise(double seconds, boolean pressed) {
        sinceLossS += seconds;
        if (!pressed) {
            return;
        }
        if (busy > FULL) {
            share = Math.max(share * Math.exp(-RISE * seconds), Math.min(share, FAIR * cpus));
        } else if (busy <= BUSY) {
            double slow = Math.min(RISE * Math.pow(2, sinceLossS / DOUBLES_S), RISE_FAST);
            double rise = (share < NEAR * wrongAt ? RISE_FAST : slow) * seconds;
            share *= Math.exp(Math.min(rise, RISE_OF_ONE * allowed * answers));
        }
    }

    private void settle(long now) {
        countsFrom = now + Math.min(Math.max(longestNs, SETTLE_MIN_NS), SETTLE_MAX_NS);
    }

    /** Others hardly run, or have a fair part to see whether that makes a difference. */
    private void blame(double seconds, long now) {
        boolean wasFair = blame.isFair();
        blame.late(seconds, answers, late);
        if (blame.isFair() != wasFair) {
            share = blame.isFair() ? Math.max(FAIR * cpus, Target.SHARE_MIN) : Target.SHARE_MIN;
            wrongAt = share / NEAR;
            sinceLossS = 0;
            settle(now);
        }
    }
}
