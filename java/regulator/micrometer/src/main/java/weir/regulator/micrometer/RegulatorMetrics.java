package weir.regulator.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import weir.regulator.Metric;
import weir.regulator.Regulator;

/**
 * The meters of a regulator: all of its {@linkplain Regulator#metrics metrics}, and the waits of admitted requests as a timer
 * with a histogram, {@value #WAIT}.
 *
 * <p>Classes, promises and checkpoints that come later get their meters when somebody reads {@value #METERS}, which every export
 * does: they are in the next one.
 */
public final class RegulatorMetrics implements MeterBinder {
    /** How many meters there are; reading it adds those that are new. */
    public static final String METERS = "weir.regulator.meters";
    /** What admitted requests waited, by class. */
    public static final String WAIT = "weir.regulator.wait";

    private final Regulator regulator;

    /** The meters of the regulator that filters and checkpoints use. */
    public RegulatorMetrics() {
        this(Regulator.shared());
    }

    /** The meters of a regulator. */
    public RegulatorMetrics(Regulator regulator) {
        this.regulator = regulator;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        // By name and tags. Micrometer itself keeps weak references only.
        Map<String, Metric> bound = new ConcurrentHashMap<>();
        bindNew(bound, registry);
        Gauge.builder(METERS, bound, of -> bindNew(of, registry))
                .description("Meters of the regulator; reading it adds those that are new")
                .strongReference(true)
                .register(registry);
        Map<String, Timer> waits = new ConcurrentHashMap<>();
        regulator.listen((serviceClass, nanos) ->
                waits.computeIfAbsent(serviceClass, of -> wait(registry, of)).record(nanos, TimeUnit.NANOSECONDS));
    }

    private static Timer wait(MeterRegistry registry, String serviceClass) {
        return Timer.builder(WAIT)
                .description("How long admitted requests waited")
                .tag("class", serviceClass)
                .publishPercentileHistogram()
                .register(registry);
    }

    /** Binds what is not bound yet, and counts all. */
    private int bindNew(Map<String, Metric> bound, MeterRegistry registry) {
        for (Metric metric : regulator.metrics()) {
            if (bound.putIfAbsent(metric.toString(), metric) == null) {
                bind(metric, registry);
            }
        }
        return bound.size();
    }

    private static void bind(Metric metric, MeterRegistry registry) {
        String unit = metric.unit().isEmpty() ? null : metric.unit();
        List<Tag> tags = metric.tags().entrySet().stream()
                .map(tag -> Tag.of(tag.getKey(), tag.getValue()))
                .collect(Collectors.toList());
        if (metric.kind() == Metric.Kind.COUNTER) {
            FunctionCounter.builder(metric.name(), metric, Metric::value)
                    .tags(tags)
                    .baseUnit(unit)
                    .register(registry);
        } else {
            Gauge.builder(metric.name(), metric, Metric::value)
                    .tags(tags)
                    .baseUnit(unit)
                    .register(registry);
        }
    }
}
