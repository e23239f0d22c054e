package weir.regulator;

import java.util.ArrayList;
import java.util.List;
import weir.regulator.pause.Lateness;
import weir.regulator.pause.Pace;
import weir.regulator.pause.ResponseTarget;
import weir.regulator.pause.Target;
import weir.regulator.pause.Targets;
import weir.regulator.pause.ThroughputTarget;

/** What holds between two changes of the settings: a request that began under one ends under it. */
final class Regime {
    /** A stretch that is shorter costs more for the pause after it than it runs. */
    private static final long STRETCH_LEAST_NS = 200_000L;

    final Settings settings;
    final Targets targets;
    /** Whether promises say when work pauses; else its progress does. */
    final boolean isPaced;
    /** Test points that come earlier than this after the last are added to the next. */
    final long stretchMinNs;

    Regime(Settings settings, Pace pace, Lateness lateness) {
        this.settings = settings;
        List<Target> targets = new ArrayList<>();
        for (ClassSettings of : settings.classes()) {
            boolean isKept = of.promise != null && settings.promiseBy().isByPauses();
            targets.add(isKept ? target(of.promise, pace, lateness) : null);
        }
        this.targets = new Targets(targets, pace);
        this.isPaced = !this.targets.isEmpty();
        long usual = settings.pauses().stretchMinNs;
        this.stretchMinNs = isPaced ? Math.min(usual, Math.max(this.targets.graceNs(), STRETCH_LEAST_NS)) : usual;
    }

    private static Target target(PromiseText promise, Pace pace, Lateness lateness) {
        return promise.response != null
                ? new ResponseTarget(promise.response, pace, lateness, Runtime.getRuntime().availableProcessors())
                : new ThroughputTarget(promise.throughput, pace);
    }

    /** Whether work of this class ever pauses: not if it was promised something itself. */
    boolean pauses(int classIndex) {
        return settings.isOn() && !targets.isPromised(classIndex);
    }
}
