package weir.regulator.pause;

import java.util.Arrays;

/**
 * Whether the last seven stretches are slower than usual ones together: all of them slower than three quarters, or four of them slower than
 * nineteen in twenty.
 *
 * <p>What is usual is a sample of the times per progress, spread evenly over the stretches that are remembered.
 */
final class LastSeven {
    private static final int SAMPLE = 256;
    private static final int SEVEN = (1 << 7) - 1;
    private static final double MOST = 0.75;
    private static final double NEARLY_ALL = 0.95;
    private static final int OUT_OF_NEARLY_ALL = 4;

    /** In the order in which they came, and sorted. */
    private final double[] sample = new double[SAMPLE];
    private final double[] sorted = new double[SAMPLE];
    private int size;
    private int oldest;
    /** Stretches until the next one is taken into the sample. */
    private double due;
    /** Seconds per progress that are not exceeded by most, and by nearly all. */
    private double mostS;
    private double nearlyAllS;
    /** Of each of the last stretches whether it exceeded that: a bit each, the last one's lowest. */
    private int aboveMost;
    private int aboveNearlyAll;

    /**
     * Another stretch.
     *
     * @param perProgressS seconds per progress
     * @param remembered over how many stretches what is usual is taken
     */
    void add(double perProgressS, double remembered) {
        aboveMost = aboveMost << 1 & SEVEN | (perProgressS > mostS ? 1 : 0);
        aboveNearlyAll = aboveNearlyAll << 1 & SEVEN | (perProgressS > nearlyAllS ? 1 : 0);
        due--;
        if (due <= 0) {
            due += Math.max(1, remembered / SAMPLE);
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

    /** Whether that is slow. */
    boolean areSlow() {
        return aboveMost == SEVEN || Integer.bitCount(aboveNearlyAll) >= OUT_OF_NEARLY_ALL;
    }

    /** Stretches so far are none of the last seven any more; what is usual stays. */
    void forget() {
        aboveMost = 0;
        aboveNearlyAll = 0;
    }
}
