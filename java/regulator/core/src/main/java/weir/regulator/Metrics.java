package weir.regulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import weir.regulator.limit.ClassSeen;
import weir.regulator.limit.Why;
import weir.regulator.pause.Target;

/** All metrics of a regulator: the one list from which JMX, and whoever binds them to another system, take their names. */
final class Metrics {
    private static final String PREFIX = "weir.regulator.";

    private final Regulator regulator;
    private final List<Metric> metrics = new ArrayList<>();

    Metrics(Regulator regulator) {
        this.regulator = regulator;
    }

    List<Metric> all() {
        gauge("on", "", Map.of(), () -> regulator.isOn() ? 1 : 0);
        // Names of their own: whoever adds up a name over its tags, or wants the same tags for all of a name, would be misled.
        gauge("total.active", "requests", Map.of(), regulator::inFlight);
        gauge("total.limit", "requests", Map.of(), regulator::limit);
        gauge("pace.share", "threads", Map.of(), regulator.pace()::share);
        gauge("pace.used", "threads", Map.of(), () -> regulator.pace().used(regulator.time().now()));
        gauge("wait.unseen.max", "seconds", Map.of(), () -> regulator.lateness().mostNs() / 1e9);
        for (ClassSettings of : regulator.settings().classes()) {
            ofClass(of.name);
            if (of.promise != null) {
                ofPromise(of.name);
            }
        }
        regulator.checkpoints().values().forEach(this::ofCheckpoint);
        return metrics;
    }

    private void ofClass(String name) {
        Map<String, String> tags = Map.of("class", name);
        gauge("requests.active", "requests", tags, seen(name, of -> of.inFlight));
        gauge("requests.queued", "requests", tags, seen(name, of -> of.queued));
        gauge("requests.limit", "requests", tags, seen(name, of -> of.limit));
        counter("requests.arrived", "requests", tags, seen(name, of -> of.arrived));
        counter("requests.admitted", "requests", tags, seen(name, of -> of.admitted));
        counter("requests.finished", "requests", tags, seen(name, of -> of.finished));
        counter("requests.waited", "requests", tags, seen(name, of -> of.waited));
        counter("requests.wait", "seconds", tags, seen(name, of -> of.waitTotalNs / 1e9));
        gauge("requests.wait.max", "seconds", tags, seen(name, of -> of.waitMaxNs / 1e9));
        for (Why why : Why.values()) {
            Map<String, String> both = new TreeMap<>(tags);
            both.put("why", why.name().toLowerCase(Locale.ROOT));
            counter("requests.refused", "requests", both, seen(name, of -> of.refusedFor(why)));
        }
    }

    private void ofPromise(String name) {
        Map<String, String> tags = Map.of("class", name);
        gauge("promise.measured", "", tags, () -> {
            Regime regime = regulator.regime();
            return regulator.promises().measured(regime, regime.indexOf(name));
        });
        gauge("promise.kept", "", tags, () -> state(name) == Target.State.KEPT ? 1 : 0);
        gauge("promise.impossible", "", tags, () -> state(name) == Target.State.IMPOSSIBLE ? 1 : 0);
    }

    private Target.State state(String name) {
        Regime regime = regulator.regime();
        return regulator.promises().state(regime, regime.indexOf(name));
    }

    private void ofCheckpoint(CheckpointState of) {
        Map<String, String> tags = Map.of("checkpoint", of.name());
        counter("checkpoint.stretches", "stretches", tags, of.stretches::sum);
        counter("checkpoint.pauses", "pauses", tags, of.pauses::sum);
        counter("checkpoint.paused", "seconds", tags, () -> of.pausedNs.sum() / 1e9);
        counter("checkpoint.locked", "pauses", tags, of.locked::sum);
        counter("checkpoint.urgent", "pauses", tags, of.urgent::sum);
        counter("checkpoint.verdicts.poor", "verdicts", tags, of::poorVerdicts);
        counter("checkpoint.verdicts.good", "verdicts", tags, of::goodVerdicts);
        gauge("checkpoint.progress.usual", "per second", tags, () -> of.judge().usualPerSecond());
        gauge("checkpoint.pause.next", "seconds", tags, () -> of.judge().nextPauseNs() / 1e9);
    }

    private DoubleSupplier seen(String name, ToDoubleFunction<ClassSeen> what) {
        return () -> {
            ClassSeen of = regulator.seen(name);
            return of == null ? Double.NaN : what.applyAsDouble(of);
        };
    }

    private void gauge(String name, String unit, Map<String, String> tags, DoubleSupplier value) {
        metrics.add(new Metric(Metric.Kind.GAUGE, PREFIX + name, unit, tags, value));
    }

    private void counter(String name, String unit, Map<String, String> tags, DoubleSupplier value) {
        metrics.add(new Metric(Metric.Kind.COUNTER, PREFIX + name, unit, tags, value));
    }
}
