package weir.regulator.pause;

/**
 * The thresholds of a sign test that is looked at after every sample.
 *
 * <p>Of n stretches since the last verdict, r were slower than usual. With P(Bin(n, 1/2) ≥ r) ≤ α progress is poor; with
 * P(Bin(n, 1/2) ≥ n − r) ≤ β it is good. A table, computed once from the exact binomial.
 */
final class SignTest {
    /** Most stretches that one verdict looks at; after those without one, it begins anew. */
    static final int STRETCHES_MAX = 64;

    private final int[] poor = new int[STRETCHES_MAX + 1];
    private final int[] good = new int[STRETCHES_MAX + 1];

    SignTest(double alpha, double beta) {
        for (int n = 1; n <= STRETCHES_MAX; n++) {
            poor[n] = least(n, alpha);
            good[n] = n - least(n, beta);
        }
    }

    /** Whether {@code slow} of {@code n} are too many. */
    boolean isPoor(int slow, int n) {
        return slow >= poor[n];
    }

    /** Whether {@code slow} of {@code n} are few enough. */
    boolean isGood(int slow, int n) {
        return slow <= good[n];
    }

    /** The least r with P(Bin(n, 1/2) ≥ r) ≤ {@code chance}; n + 1 if even all n are likelier. */
    static int least(int n, double chance) {
        double all = Math.scalb(1.0, -n);
        double tail = 0;
        double ways = 1;
        int found = n + 1;
        for (int r = n; r >= 0; r--) {
            tail += ways * all;
            if (tail > chance) {
                break;
            }
            found = r;
            // From n over r to n over r − 1.
            ways *= r / (double) (n - r + 1);
        }
        return found;
    }
}
