package weir.regulator.pause;

import java.util.Arrays;

/**
 * Whether the last seven stretches are slower than usual ones together: all of them slower than three quarters, or four of them slower than
 * nineteen in twenty.
 *
 * <p>What is usual is a sample of the times per progress of those before, spread evenly over the stretches that are remembered.
 */
final class LastSeven {
    private static final int SEVEN = 7;
    private static final int ALL = (1 << SEVEN) - 1;
    private static final int SOME = 4;
    private static final int SAMPLE = 256;
    private static final double MOST = 0.75;
    private static final double NEARLY_ALL = 0.95;

    /** Seconds per progress of the last ones. */
    private final double[] last = new double[SEVEN];
    private int count;
    private int next;
    /** Of each of them whether it exceeded what most, and what nearly all do not exceed: a bit each, the last one's lowest. */
    private int aboveMost;
    private int aboveNearlyAll;

    /** The sample in the order in which it was taken, and sorted. */
    private final double[] sample = new double[SAMPLE];
    private final double[] sorted = new double[SAMPLE];
    private int size;
    private int oldest;
    /** The part of a place in the sample that is due to stretches since the last one that was taken. */
    private double due;
    private double mostS;
    private double nearlyAllS;

    /**
     * Another stretch.
     *
     * @param perProgressS seconds per progress
     * @param remembered over how many stretches what is usual is taken
     */
    void add(double perProgressS, double remembered) {
        if (count == SEVEN) {
            becomesUsual(last[next], remembered);
        } else {
            count++;
        }
        last[next] = perProgressS;
        next = (next + 1) % SEVEN;
        aboveMost = aboveMost << 1 & ALL | (perProgressS > mostS ? 1 : 0);
        aboveNearlyAll = aboveNearlyAll << 1 & ALL | (perProgressS > nearlyAllS ? 1 : 0);
    }

    /** Whether that is slow. */
    boolean areSlow() {
        return aboveMost == ALL || Integer.bitCount(aboveNearlyAll) >= SOME;
    }

    /** Stretches so far are none of the last seven any more, and become usual over so many. */
    void begin(double remembered) {
        for (; count > 0; count--) {
            becomesUsual(last[(next + SEVEN - count) % SEVEN], remembered);
        }
        aboveMost = 0;
        aboveNearlyAll = 0;
    }

    private void becomesUsual(double perProgressS, double remembered) {
        due += Math.min(1, SAMPLE / remembered);
        if (due >= 1) {
            due--;
            take(perProgressS);
        }
    }

    private void take(double perProgressS) {
        int found = Arrays.binarySearch(sorted, 0, size, perProgressS);
        int to = found < 0 ? -found - 1 : found;
        int from = size == SAMPLE ? Arrays.binarySearch(sorted, sample[oldest]) : size++;
        if (to <= from) {
            System.arraycopy(sorted, to, sorted, to + 1, from - to);
        } else {
            to--;
            System.arraycopy(sorted, from + 1, sorted, from, to - from);
        }
        sorted[to] = perProgressS;
        sample[oldest] = perProgressS;
        oldest = (oldest + 1) % SAMPLE;
        mostS = sorted[(int) (MOST * (size - 1))];
        nearlyAllS = sorted[(int) (NEARLY_ALL * (size - 1))];
    }
}
