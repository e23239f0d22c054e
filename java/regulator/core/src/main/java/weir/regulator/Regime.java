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
    private final Pace pace;
    private final Lateness lateness;

    private Regime(Settings settings, Targets targets, Pace pace, Lateness lateness) {
        this.settings = settings;
        this.targets = targets;
        this.pace = pace;
        this.lateness = lateness;
        this.isPaced = !targets.isEmpty();
        long usual = settings.pauses().stretchMinNs;
        this.stretchMinNs = isPaced ? Math.min(usual, Math.max(targets.graceNs(), STRETCH_LEAST_NS)) : usual;
    }

    /** Nothing is held. */
    static Regime off(Pace pace, Lateness lateness) {
        return new Regime(Settings.OFF, new Targets(List.of(), pace), pace, lateness);
    }

    /** What holds from now on in place of this; a promise that stays as it was goes on with what has been learnt. */
    Regime follow(Settings settings, long now) {
        List<Target> next = new ArrayList<>();
        for (ClassSettings of : settings.classes()) {
            boolean isKept = of.promise != null && settings.promiseBy().isByPauses();
            next.add(isKept ? target(of) : null);
        }
        return new Regime(settings, targets.follow(next, settings.isOn(), now), pace, lateness);
    }

    private Target target(ClassSettings of) {
        Target known = target(of.name);
        if (known != null && of.promise.equals(settings.classes().get(indexOf(of.name)).promise)) {
            return known;
        }
        int cpus = Runtime.getRuntime().availableProcessors();
        return of.promise.response != null
                ? new ResponseTarget(of.promise.response, pace, lateness, cpus)
                : new ThroughputTarget(of.promise.throughput, pace, cpus);
    }

    /** The target of the class of this name; null without one. */
    Target target(String className) {
        return targets.target(indexOf(className));
    }

    /** The index of the class of this name, or a negative number. */
    int indexOf(String className) {
        int index = settings.classes().size() - 1;
        while (index >= 0 && !settings.classes().get(index).name.equals(className)) {
            index--;
        }
        return index;
    }

    /** Whether work of this class ever pauses: not if it was promised something itself. */
    boolean pauses(int classIndex) {
        return settings.isOn() && settings.classes().get(classIndex).promise == null;
    }
}
