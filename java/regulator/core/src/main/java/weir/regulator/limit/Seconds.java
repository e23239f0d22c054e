package weir.regulator.limit;

/** Nanoseconds as seconds and back, rounded as every implementation of the algorithms has to. */
final class Seconds {
    private static final long PER_SECOND = 1_000_000_000L;

    private Seconds() {}

    /** Whole seconds and the rest are converted on their own, so that long times keep their nanoseconds. */
    static double of(long nanos) {
        return nanos / PER_SECOND + nanos % PER_SECOND / 1e9;
    }

    /** To the nearest nanosecond; the largest there is if that is too long, 0 if it is negative. */
    static long toNanos(double seconds) {
        if (!(seconds > 0)) {
            return 0;
        }
        if (seconds >= Long.MAX_VALUE / 1e9) {
            return Long.MAX_VALUE;
        }
        long whole = (long) seconds;
        return whole * PER_SECOND + (long) Math.rint((seconds - whole) * 1e9);
    }

    /** How long ago {@code earlier} was; 0 if it is later. */
    static long since(long earlier, long now) {
        return Math.max(0, now - earlier);
    }

    /** A sum that stays at the last moment there is. */
    static long later(long moment, long nanos) {
        long sum = moment + nanos;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** A product that stays at the longest time there is. */
    static long times(long nanos, long count) {
        return count != 0 && nanos > Long.MAX_VALUE / count ? Long.MAX_VALUE : nanos * count;
    }
}
