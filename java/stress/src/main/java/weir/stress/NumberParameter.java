package weir.stress;

/**
 * A parameter that is a whole number.
 *
 * @param unit what the number counts, for messages
 * @param low the least that is accepted
 * @param high the most that is accepted
 * @param fallback the value when none is given
 */
record NumberParameter(String name, String unit, long low, long high, long fallback) {
    /** Longest single sleep or hold that can be asked for: ten minutes. */
    private static final long MILLISECONDS_MAX = 600_000;

    /** A time in milliseconds. */
    static NumberParameter milliseconds(String name, long fallback) {
        return new NumberParameter(name, "ms", 0, MILLISECONDS_MAX, fallback);
    }

    /** The number that {@code text} is, or an explanation of what would be accepted. */
    long parse(String text) throws BadParameter {
        // Eighteen digits fit a long; no bound is that large.
        boolean isNumber = !text.isEmpty() && text.length() <= 18 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (isNumber) {
            long value = Long.parseLong(text);
            if (value >= low && value <= high) {
                return value;
            }
        }
        throw new BadParameter("parameter " + name + ": " + Parameters.quoted(text) + " is not accepted; give a whole number from "
                + low + " to " + high + " (" + unit + ")");
    }
}
