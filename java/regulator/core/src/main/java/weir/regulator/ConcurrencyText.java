package weir.regulator;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import weir.regulator.limit.Adaptive;
import weir.regulator.limit.Aimd;
import weir.regulator.limit.Concurrency;
import weir.regulator.limit.Fixed;
import weir.regulator.limit.Gradient2;
import weir.regulator.limit.Vegas;

/** Caps on concurrency as people write them: {@code 20}, {@code adaptive cpu=80%}, {@code aimd start=10 timeout=500ms}. */
final class ConcurrencyText {
    private final String text;
    private final Map<String, String> parameters = new LinkedHashMap<>();

    private ConcurrencyText(String text) {
        this.text = text;
    }

    static Concurrency parse(String text) {
        return new ConcurrencyText(text).parse();
    }

    private Concurrency parse() {
        // A space between a number and its unit belongs to the number.
        String[] words = text.trim().replaceAll("([0-9])\\s+(%|ns|us|µs|ms|s|min)(?=\\s|$)", "$1$2").split("\\s+");
        for (int word = 1; word < words.length; word++) {
            String[] pair = words[word].split("=", 2);
            if (pair.length < 2) {
                throw new IllegalArgumentException("'" + words[word] + "' is not written as name=value");
            }
            if (parameters.put(pair[0], pair[1]) != null) {
                throw new IllegalArgumentException("'" + pair[0] + "' is said twice");
            }
        }
        Concurrency concurrency = named(words[0]);
        if (!parameters.isEmpty()) {
            throw new IllegalArgumentException(
                    "'" + words[0] + "' has no parameter '" + parameters.keySet().iterator().next() + "'");
        }
        return concurrency;
    }

    private Concurrency named(String name) {
        switch (name) {
            case "adaptive":
                return new Adaptive(
                        take("cpu", Quantity::share, null),
                        take("p99", Quantity::nanos, null),
                        take("min", Quantity::limit, null),
                        take("max", Quantity::limit, null),
                        take("start", Quantity::limit, null));
            case "aimd":
                return aimd(take("max", Quantity::limit, 200.0));
            case "vegas":
                return vegas(take("max", Quantity::limit, 1000.0));
            case "gradient2":
                return gradient2(take("max", Quantity::limit, 200.0));
            default:
                return fixed(name);
        }
    }

    private Concurrency aimd(double max) {
        Bounds bounds = bounds(max);
        return new Aimd(
                bounds.start,
                bounds.min,
                max,
                take("back-off", Quantity::share, 0.9),
                take("timeout", Quantity::nanos, 5_000_000_000L));
    }

    private Concurrency vegas(double max) {
        return new Vegas(take("start", Quantity::limit, Math.min(20.0, max)), max);
    }

    private Concurrency gradient2(double max) {
        Bounds bounds = bounds(max);
        return new Gradient2(bounds.start, bounds.min, max);
    }

    /** Where a limit begins, and the least it may be. */
    private static final class Bounds {
        private final double start;
        private final double min;

        Bounds(double start, double min) {
            this.start = start;
            this.min = min;
        }
    }

    /** What is not said of them is 20, or as near to that as what is said allows. */
    private Bounds bounds(double max) {
        double usual = Math.min(20.0, max);
        Double start = take("start", Quantity::limit, null);
        Double min = take("min", Quantity::limit, null);
        double least = min != null ? min : Math.min(usual, start == null ? usual : start);
        return new Bounds(start != null ? start : Math.max(usual, least), least);
    }

    private Concurrency fixed(String number) {
        try {
            return new Fixed(Quantity.limit(number));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no cap; write a number above 0, adaptive, aimd, vegas or gradient2", e);
        }
    }

    private <T> T take(String name, Function<String, T> parse, T otherwise) {
        String value = parameters.remove(name);
        return value == null ? otherwise : parse.apply(value);
    }
}
