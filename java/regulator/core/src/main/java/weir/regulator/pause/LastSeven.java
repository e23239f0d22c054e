package weir.regulator.pause;

/**
 * Whether the last seven stretches of one piece of work are slower than usual ones together: all of them slower than three quarters, or four
 * of them slower than nineteen in twenty. Each piece of work has its own: what stops all threads once makes one stretch of each slow.
 */
public final class LastSeven {
    private static final int SEVEN = 7;
    private static final int ALL = (1 << SEVEN) - 1;
    private static final int SOME = 4;

    /** Seconds per progress. */
    private final double[] last = new double[SEVEN];
    private int count;
    private int next;
    /** Of each of them whether it exceeded what most, and what nearly all do not exceed: a bit each, the last one's lowest. */
    private int aboveMost;
    private int aboveNearlyAll;

    /** Work that has made no stretch yet. */
    public LastSeven() {}

    /**
     * Another stretch; the one before the last seven is one of the usual ones now.
     *
     * @param perProgressS seconds per progress
     * @param remembered over how many stretches what is usual is taken
     */
    void add(double perProgressS, UsualTimes usual, double remembered) {
        if (count == SEVEN) {
            usual.add(last[next], remembered);
        } else {
            count++;
        }
        last[next] = perProgressS;
        next = (next + 1) % SEVEN;
        aboveMost = aboveMost << 1 & ALL | (perProgressS > usual.mostS() ? 1 : 0);
        aboveNearlyAll = aboveNearlyAll << 1 & ALL | (perProgressS > usual.nearlyAllS() ? 1 : 0);
    }

    /** Whether that is slow. */
    boolean areSlow() {
        return aboveMost == ALL || Integer.bitCount(aboveNearlyAll) >= SOME;
    }

    /** What has been is none of the last seven any more, but usual, and counts as if so many stretches were remembered. */
    void begin(UsualTimes usual, double remembered) {
        for (; count > 0; count--) {
            usual.add(last[(next + SEVEN - count) % SEVEN], remembered);
        }
        aboveMost = 0;
        aboveNearlyAll = 0;
    }
}
