package weir.regulator.limit;

import java.util.List;

/** The limit of the gradient of response times: see {@link Gradient2Limit}. */
public final class Gradient2 extends Concurrency {
    /** The defaults of Netflix' concurrency-limits. */
    public static final Gradient2 DEFAULT = new Gradient2(20, 20, 200);

    final double start;
    final double min;
    final double max;

    /**
     * Rules.
     *
     * @param start the limit at first
     * @param min the least
     * @param max the largest
     * @throws IllegalArgumentException if the limit at first is not between the least and the largest
     */
    public Gradient2(double start, double min, double max) {
        checkBounds(start, min, max);
        this.start = start;
        this.min = min;
        this.max = max;
    }

    @Override
    Limit start(long now) {
        return new Gradient2Limit(this);
    }

    @Override
    List<Object> parameters() {
        return List.of(start, min, max);
    }
}
