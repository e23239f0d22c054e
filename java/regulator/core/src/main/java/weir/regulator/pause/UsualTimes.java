package weir.regulator.pause;

import java.util.Arrays;

/** What stretches usually take: a sample of their times per progress, spread over most of those that are remembered. */
final class UsualTimes {
    private static final int SAMPLE = 256;
    private static final double MOST = 0.75;
    private static final double NEARLY_ALL = 0.95;

    /** In the order in which it was taken, and sorted. */
    private final double[] sample = new double[SAMPLE];
    private final double[] sorted = new double[SAMPLE];
    private int size;
    private int oldest;
    /** The part of a place in the sample that is due to stretches since the last one that was taken. */
    private double due;

    /** Seconds per progress that a quarter exceeds; 0 before any is known. */
    double mostS() {
        return quantile(MOST);
    }

    /** Seconds per progress that one in twenty exceeds; 0 before any is known. */
    double nearlyAllS() {
        return quantile(NEARLY_ALL);
    }

    private double quantile(double part) {
        return sorted[(int) (part * size)];
    }

    /**
     * Another stretch that is one of the usual ones now.
     *
     * @param perProgressS seconds per progress
     * @param remembered over how many stretches what is usual is taken
     */
    void add(double perProgressS, double remembered) {
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
    }
}
