package weir.regulator.limit;

import java.util.List;

/** How the number of requests in flight is capped: one of the rules of this package, such as {@link Fixed}. */
public abstract class Concurrency {
    Concurrency() {}

    /** The algorithm, at its beginning. */
    abstract Limit start(long now);

    /** The numbers that make it what it is. */
    abstract List<Object> parameters();

    /** Two are the same if all their numbers are: then an algorithm goes on from where it is when the rules are set anew. */
    @Override
    public final boolean equals(Object other) {
        return other != null
                && other.getClass() == getClass()
                && ((Concurrency) other).parameters().equals(parameters());
    }

    @Override
    public final int hashCode() {
        return parameters().hashCode();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + parameters();
    }

    static double checkLimit(double limit) {
        if (!(limit > 0)) {
            throw new IllegalArgumentException(limit + " is not a number of requests above 0");
        }
        return limit;
    }

    static void checkBounds(double min, double max) {
        if (min > max) {
            throw new IllegalArgumentException("the least limit, " + min + ", is above the largest, " + max);
        }
    }

    static void checkBounds(double start, double min, double max) {
        checkBounds(min, max);
        if (start < min || start > max) {
            throw new IllegalArgumentException(
                    "the limit at first, " + start + ", is not between the least, " + min + ", and the largest, " + max);
        }
    }
}
