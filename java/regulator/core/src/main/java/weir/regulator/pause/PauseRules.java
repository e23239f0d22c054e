package weir.regulator.pause;

import java.util.Objects;

/** How work pauses that is judged by its progress. Times are nanoseconds. */
public final class PauseRules {
    /** Stretches of 2 ms, pauses of 2 to 500 ms, α = 0.01, β = 0.2. */
    public static final PauseRules DEFAULT = new PauseRules(2_000_000L, 2_000_000L, 500_000_000L, 0.01, 0.2);

    /** Test points that come earlier than this after the last are added to the next. */
    public final long stretchMinNs;
    /** The shortest pause, S_min. */
    public final long pauseMinNs;
    /** The longest, S_max. */
    public final long pauseMaxNs;
    /** How likely undisturbed work may be judged poor, at one look. */
    public final double alpha;
    /** How likely work that is disturbed half of the time may be judged good, at one look. */
    public final double beta;

    /**
     * Rules.
     *
     * @throws IllegalArgumentException if the shortest pause is longer than the longest, or a chance is not between 0 and 1
     */
    public PauseRules(long stretchMinNs, long pauseMinNs, long pauseMaxNs, double alpha, double beta) {
        if (pauseMinNs <= 0 || pauseMinNs > pauseMaxNs) {
            throw new IllegalArgumentException(
                    "the shortest pause, " + pauseMinNs + " ns, is not between 0 and the longest, " + pauseMaxNs + " ns");
        }
        this.stretchMinNs = stretchMinNs;
        this.pauseMinNs = pauseMinNs;
        this.pauseMaxNs = pauseMaxNs;
        this.alpha = checkChance(alpha);
        this.beta = checkChance(beta);
    }

    private static double checkChance(double chance) {
        if (!(chance > 0 && chance < 1)) {
            throw new IllegalArgumentException(chance + " is not a chance above 0 and below 1");
        }
        return chance;
    }

    @Override
    public boolean equals(Object object) {
        if (!(object instanceof PauseRules)) {
            return false;
        }
        PauseRules other = (PauseRules) object;
        return stretchMinNs == other.stretchMinNs
                && pauseMinNs == other.pauseMinNs
                && pauseMaxNs == other.pauseMaxNs
                && alpha == other.alpha
                && beta == other.beta;
    }

    @Override
    public int hashCode() {
        return Objects.hash(stretchMinNs, pauseMinNs, pauseMaxNs, alpha, beta);
    }
}
