package weir.regulator;

import java.util.Map;
import java.util.function.DoubleSupplier;

/**
 * One number that can be read, named as Micrometer names meters: lower case with dots, tags beside, the unit in {@link #unit}.
 *
 * <p>What collects them needs no more than this: a {@link Kind#COUNTER} as a {@code FunctionCounter}, a {@link Kind#GAUGE} as a
 * {@code Gauge}.
 */
public final class Metric {
    /** How its value moves. */
    public enum Kind {
        /** It only grows. */
        COUNTER,
        /** It goes up and down. */
        GAUGE
    }

    private final String name;
    private final Map<String, String> tags;
    private final String unit;
    private final Kind kind;
    private final DoubleSupplier value;

    Metric(Kind kind, String name, String unit, Map<String, String> tags, DoubleSupplier value) {
        this.kind = kind;
        this.name = name;
        this.unit = unit;
        this.tags = tags;
        this.value = value;
    }

    /** Such as {@code weir.regulator.requests.admitted}. */
    public String name() {
        return name;
    }

    /** Such as class → light. */
    public Map<String, String> tags() {
        return tags;
    }

    /** The unit of its value; empty for a bare number. */
    public String unit() {
        return unit;
    }

    /** How its value moves. */
    public Kind kind() {
        return kind;
    }

    /** Its value now; NaN if there is none. */
    public double value() {
        return value.getAsDouble();
    }

    /** Name and tags, as in {@code weir.regulator.requests.admitted{class=light}}. */
    @Override
    public String toString() {
        return tags.isEmpty() ? name : name + tags.toString().replace(", ", ",");
    }
}
