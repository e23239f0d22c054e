package weir.regulator.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import weir.regulator.Entry;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.limit.Kind;

/** Meters of requests that really wait. */
class RegulatorMetricsTest {
    private final Regulator regulator = new Regulator(
            Settings.of(Map.of("class.heavy.urls", "/heavy", "class.heavy.concurrency", "1", "class.heavy.max-wait", "1 min")),
            Time.ofMachine());
    private final MeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void requestsAreCountedAndTheirWaitsAreTimed() throws InterruptedException {
        new RegulatorMetrics(regulator).bindTo(registry);
        Entry first = regulator.enter("/heavy");
        Thread second = new Thread(() -> {
            try {
                regulator.enter("/heavy").finish(Kind.COMPLETED);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        second.start();
        while (registry.get("weir.regulator.requests.queued").tag("class", "heavy").gauge().value() < 1) {
            Thread.sleep(1);
        }
        Thread.sleep(50);
        first.finish(Kind.COMPLETED);
        second.join();
        assertEquals(2, registry.get("weir.regulator.requests.finished").tag("class", "heavy").functionCounter().count());
        Timer waits = registry.get(RegulatorMetrics.WAIT).tag("class", "heavy").timer();
        assertEquals(2, waits.count());
        double longest = waits.max(TimeUnit.MILLISECONDS);
        assertTrue(longest >= 50, longest + " ms");
    }

    @Test
    void whatComesLaterIsAddedWhenTheMetersAreRead() {
        new RegulatorMetrics(regulator).bindTo(registry);
        regulator.checkpoint("export");
        regulator.apply(regulator.settings().with("class.light.urls", "/light").with("promise.light", "p99 <= 50 ms"));
        assertNull(registry.find("weir.regulator.checkpoint.pauses").functionCounter());
        assertNull(registry.find("weir.regulator.promise.kept").tag("class", "light").gauge());
        double meters = registry.get(RegulatorMetrics.METERS).gauge().value();
        assertEquals(regulator.metrics().size(), meters);
        assertNotNull(registry.find("weir.regulator.checkpoint.pauses").tag("checkpoint", "export").functionCounter());
        assertNotNull(registry.find("weir.regulator.promise.kept").tag("class", "light").gauge());
    }

    @Test
    void eachRegistryHasAllMeters() {
        RegulatorMetrics metrics = new RegulatorMetrics(regulator);
        metrics.bindTo(registry);
        MeterRegistry second = new SimpleMeterRegistry();
        metrics.bindTo(second);
        assertEquals(registry.getMeters().size(), second.getMeters().size());
        assertNotNull(second.find("weir.regulator.requests.finished").tag("class", "heavy").functionCounter());
    }
}
