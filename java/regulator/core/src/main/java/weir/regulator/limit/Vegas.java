package weir.regulator.limit;

import java.util.List;

/** The limit of TCP Vegas: see {@link VegasLimit}. */
public final class Vegas extends Concurrency {
    /** The defaults of Netflix' concurrency-limits. */
    public static final Vegas DEFAULT = new Vegas(20, 1000);

    final double start;
    final double max;

    /**
     * Rules.
     *
     * @param start the limit at first
     * @param max the largest; the least is 1
     * @throws IllegalArgumentException if the limit at first is not between the least and the largest
     */
    public Vegas(double start, double max) {
        checkBounds(start, 1, max);
        this.start = start;
        this.max = max;
    }

    @Override
    Limit start(long now) {
        return new VegasLimit(this);
    }

    @Override
    List<Object> parameters() {
        return List.of(start, max);
    }
}
