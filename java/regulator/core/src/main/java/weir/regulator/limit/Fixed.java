package weir.regulator.limit;

import java.util.List;

/** A cap at a number, which may be a fraction: then the mean over time is at most that. */
public final class Fixed extends Concurrency {
    /** No cap. */
    public static final Fixed UNLIMITED = new Fixed(Double.POSITIVE_INFINITY);

    private final double limit;

    /** So many in flight, above 0. */
    public Fixed(double limit) {
        this.limit = checkLimit(limit);
    }

    @Override
    Limit start(long now) {
        return new FixedLimit(limit);
    }

    @Override
    List<Object> parameters() {
        return List.of(limit);
    }
}
