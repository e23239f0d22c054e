package weir.regulator.pause;

/**
 * How much of the time work of low importance runs: all threads that do it together, as a number of threads that run at a time
 * on average, which may be a fraction.
 *
 * <p>A virtual schedule, as of a cell rate algorithm (ITU-T I.371), with running time in place of cells. A virtual clock goes at
 * the speed of the share k: it is the running time that has been given out. A stretch that ran for d moves the next free moment
 * on by d, and somebody of those that stand still goes on when the virtual clock has come there: at k = 0.5 with stretches of 2 ms
 * every 4 ms. Who that is, {@link RoundRobin} says. The length of each one's pause follows from how many there are, a thread that ends
 * its work or waits for a disk owes nothing, and a change of k holds for those at once who stand still already.
 *
 * <p>However late the schedule is, no more threads run than the next whole number above the share: whoever has gone on and waits for a
 * CPU moves the schedule only when he comes back. In a moment in which many requests want the CPU, such as the end of a collection of
 * garbage, others would go on in his place, one after the other, and all of them would run beside those requests.
 *
 * <p>Time that is not used is not saved up, but for {@link #TOLERANCE_NS}: timers wake late, and what is lost to that is made up.
 *
 * <p>Stretches are as long as the clock says. Where more threads want to run than there are CPUs, most of that is waiting, and all of
 * them together seem to have run for many times what anybody can. So together they take no more than could run in the time, which
 * matters when a limit begins: otherwise all would stand still for seconds to make up for what never ran.
 */
public final class Pace {
    /** Whoever stays away from checkpoints for longer is taken to wait for something else than a CPU, unless it is known that he does not. */
    public static final long AWAY_NS = Running.AWAY_NS;
    /** What may be made up. */
    static final long TOLERANCE_NS = 2_000_000L;
    /** Over so long it counts what can run at most: longer stretches are rare. */
    private static final double POSSIBLE_MAX_NS = 1e9;
    /** Time over which the share in use is taken. */
    private static final double USE_MEMORY_NS = 250e6;
    /** A pause is slept in parts, so that it ends when it should after a change of the share. */
    private static final long PART_NS = 50_000_000L;
    /**
     * Whoever is not the next sleeps for so much longer than until his moment, for each that is before him: most of the time one of them
     * takes it, having made a short stretch in between.
     */
    private static final long BEHIND_NS = 5_000_000L;
    /** How soon the next one looks again whether somebody who runs has come back. */
    private static final long LOOK_NS = 1_000_000L;
    private static final long LONG_AGO = Long.MIN_VALUE / 2;

    private final int cpus;
    private final RoundRobin robin = new RoundRobin();
    private final Running running = new Running();
    private double share = Double.POSITIVE_INFINITY;
    /** Running time that has been given out until {@link #at}, and that has been taken. */
    private double givenNs;
    private double takenNs;
    private long at;
    /** Running time until {@link #at} that no stretch has taken yet. */
    private double possibleNs;
    private long heldUntil;
    private double used;
    private long usedAt;
    private long pressedAt = LONG_AGO;
    private long ranAt = LONG_AGO;

    /** Without a limit, for work on so many CPUs. */
    public Pace(int cpus) {
        this.cpus = cpus;
    }

    /** Threads that run at a time on average, at most; infinite: no limit, and nobody owes anything. */
    public synchronized void setShare(double share, long now) {
        advance(now);
        if (this.share == Double.POSITIVE_INFINITY) {
            possibleNs = 0;
        }
        this.share = share;
        if (share == Double.POSITIVE_INFINITY) {
            takenNs = Math.min(takenNs, givenNs);
        }
    }

    /** The limit that holds. */
    public synchronized double share() {
        return share;
    }

    /** Nobody goes on before this moment: to see how things are without this work. */
    public synchronized void hold(long until) {
        heldUntil = Math.max(heldUntil, until);
    }

    /**
     * A stretch is over: whoever made it stands still until he {@linkplain #goesOn goes on}, which may be at once.
     *
     * @param ranNs how long it ran, pauses left out
     */
    public synchronized void ran(Turn turn, long ranNs, long now) {
        use(ranNs, now);
        ranAt = now;
        advance(now);
        if (share != Double.POSITIVE_INFINITY) {
            double tookNs = Math.min(ranNs, possibleNs);
            possibleNs -= tookNs;
            takenNs = Math.max(takenNs, givenNs - (ranNs + TOLERANCE_NS) * share) + tookNs;
        }
        running.stops(turn);
        robin.stands(turn, ranNs, takenNs);
    }

    /** How long to stand still from now on, in nanoseconds, as things are now; 0: not at all, and it counts as running from now on. */
    public synchronized long leftNs(Turn turn, long now) {
        advance(now);
        int before = robin.before(turn);
        double left = share == Double.POSITIVE_INFINITY ? 0 : (robin.moment(before) - givenNs) / share;
        if (left <= 0 && running.countBeside(turn, now) > share) {
            left = LOOK_NS;
        }
        if (left > 0) {
            left += (double) before * BEHIND_NS;
        }
        long leftNs = Math.max((long) Math.ceil(Math.min(left, Long.MAX_VALUE / 4.0)), heldUntil - now);
        if (leftNs <= 0) {
            // At once: in between another one would find that nobody runs.
            running.goesOn(turn, now);
            return 0;
        }
        pressedAt = now;
        return leftNs;
    }

    /** Goes on, because nothing is left or for another reason. */
    public synchronized void goesOn(Turn turn, long now) {
        robin.goesOn(turn);
        running.goesOn(turn, now);
    }

    /** Nobody works on it any more, for now or for ever. */
    public synchronized void leaves(Turn turn) {
        running.stops(turn);
    }

    /** For how long to sleep until it is asked again how much is left. */
    public static long partNs(long leftNs) {
        return Math.min(leftNs, PART_NS);
    }

    private void advance(long now) {
        if (share != Double.POSITIVE_INFINITY && now > at) {
            givenNs += (now - at) * share;
            double most = Math.max(cpus, share);
            possibleNs = Math.min(possibleNs + (now - at) * most, POSSIBLE_MAX_NS * most);
        }
        at = Math.max(at, now);
    }

    /** Takes a stretch into the share in use: an exponential mean of running time per time. */
    private void use(long ranNs, long now) {
        used = used(now) + ranNs / USE_MEMORY_NS;
        usedAt = Math.max(usedAt, now);
    }

    /** Threads that ran at a time of late, on average. */
    public synchronized double used(long now) {
        return used * Math.exp(-Math.max(0, now - usedAt) / USE_MEMORY_NS);
    }

    /** Whether somebody had to stand still within this time before. */
    public synchronized boolean isPressed(long withinNs, long now) {
        return now - pressedAt <= withinNs;
    }

    /** Whether somebody made a stretch within this time before, or stands still after one. */
    public synchronized boolean isActive(long withinNs, long now) {
        return now - Math.max(ranAt, pressedAt) <= withinNs;
    }
}
