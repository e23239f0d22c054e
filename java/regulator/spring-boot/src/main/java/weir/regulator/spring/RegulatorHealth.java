package weir.regulator.spring;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import weir.regulator.Metric;
import weir.regulator.Regulator;

/**
 * How the regulator stands: which promises are kept. It is always up: a balancer that took the application out because a promise
 * is not kept would make it worse for the others.
 */
final class RegulatorHealth extends AbstractHealthIndicator implements InfoContributor {
    private static final String KEPT = "weir.regulator.promise.kept";

    private final Regulator regulator;

    RegulatorHealth(Regulator regulator) {
        super("the regulator cannot be read");
        this.regulator = regulator;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.up().withDetail("on", regulator.isOn()).withDetail("in-flight", regulator.inFlight());
        Map<String, Boolean> kept = new TreeMap<>();
        for (Metric metric : regulator.metrics()) {
            if (metric.name().equals(KEPT)) {
                kept.put(metric.tags().get("class"), metric.value() == 1);
            }
        }
        if (!kept.isEmpty()) {
            builder.withDetail("promises-kept", kept);
        }
    }

    /** What it holds, as it was set. */
    @Override
    public void contribute(Info.Builder builder) {
        builder.withDetail("regulator", regulator.settings().values());
    }
}
