package weir.regulator.limit;

import java.util.Objects;

/** Requests per second, from {@link #MIN_PER_S} up to {@link #MAX_PER_S}. */
public final class Rate {
    /** One request per microsecond, so that the nanosecond to which intervals are rounded stays below a thousandth. */
    public static final double MAX_PER_S = 1e6;
    /** One request in a bit more than eleven days. */
    public static final double MIN_PER_S = 1e-6;

    private final double perS;

    private Rate(double perS) {
        this.perS = perS;
    }

    /**
     * So many per second.
     *
     * @throws IllegalArgumentException if that is out of bounds
     */
    public static Rate perSecond(double perS) {
        if (!(perS >= MIN_PER_S && perS <= MAX_PER_S)) {
            throw new IllegalArgumentException(
                    "a rate of " + perS + " per second is not between " + MIN_PER_S + " and " + MAX_PER_S);
        }
        return new Rate(perS);
    }

    /** As a number per second. */
    public double perS() {
        return perS;
    }

    /** The time between two slots in nanoseconds, rounded up: never above the rate. */
    long intervalNs() {
        return (long) Math.ceil(1e9 / perS);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Rate && ((Rate) other).perS == perS;
    }

    @Override
    public int hashCode() {
        return Objects.hash(perS);
    }

    @Override
    public String toString() {
        return perS + "/s";
    }
}
