package weir.regulator;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers as people write them: {@code 200 ms}, {@code 80 %}, {@code 1.5}. */
final class Quantity {
    private static final Pattern DURATION = Pattern.compile("([0-9.]+)\\s*(ns|us|µs|ms|s|min|h)");
    private static final Pattern SHARE = Pattern.compile("([0-9.]+)\\s*%");

    private Quantity() {}

    /** A duration in nanoseconds. */
    static long nanos(String text) {
        Matcher matcher = DURATION.matcher(text.trim());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a duration; write it as 200 ms, 2 s or 1 min");
        }
        return Math.round(number(matcher.group(1)) * nanosOf(matcher.group(2)));
    }

    private static double nanosOf(String unit) {
        switch (unit) {
            case "ns":
                return 1;
            case "us":
            case "µs":
                return 1e3;
            case "ms":
                return 1e6;
            case "s":
                return 1e9;
            case "min":
                return 60e9;
            default:
                return 3600e9;
        }
    }

    /** A duration as people write it. */
    static String ofNanos(long nanos) {
        if (nanos >= 1_000_000_000L) {
            return String.format(Locale.ROOT, "%.3g s", nanos / 1e9);
        }
        return nanos >= 1_000_000L
                ? String.format(Locale.ROOT, "%.3g ms", nanos / 1e6)
                : String.format(Locale.ROOT, "%.3g us", nanos / 1e3);
    }

    /** A share between 0 and 1, both left out; written as percents or as a number. */
    static double share(String text) {
        Matcher matcher = SHARE.matcher(text.trim());
        double share = matcher.matches() ? percents(matcher.group(1)) : number(text);
        if (!(share > 0 && share < 1)) {
            throw new IllegalArgumentException("'" + text + "' is not a share above 0 and below 100 %");
        }
        return share;
    }

    /** So many hundredths, to the nearest number there is: 99.9 is 0.999. */
    static double percents(String text) {
        try {
            return new BigDecimal(text).movePointLeft(2).doubleValue();
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a number", e);
        }
    }

    static double number(String text) {
        try {
            return Double.parseDouble(text.trim());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a number", e);
        }
    }

    /** A number of requests above 0. */
    static double limit(String text) {
        double limit = number(text);
        if (!(limit > 0) || Double.isInfinite(limit)) {
            throw new IllegalArgumentException("'" + text + "' is not a number of requests above 0");
        }
        return limit;
    }

    static int count(String text) {
        double count = number(text);
        if (count < 0 || count != Math.rint(count) || count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("'" + text + "' is not a whole number");
        }
        return (int) count;
    }

    static boolean yes(String text) {
        switch (text.trim()) {
            case "true":
            case "on":
            case "yes":
                return true;
            case "false":
            case "off":
            case "no":
                return false;
            default:
                throw new IllegalArgumentException("'" + text + "' is neither true nor false");
        }
    }
}
