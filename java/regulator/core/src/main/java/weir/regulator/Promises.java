package weir.regulator;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import weir.regulator.limit.ClassSeen;
import weir.regulator.limit.Promised;
import weir.regulator.pause.Target;

/** How promises stand, whether pauses keep them or admission alone, and the log, which is told when one cannot be kept. */
final class Promises {
    private static final Logger LOGGER = System.getLogger("weir.regulator");

    private final Entrance entrance;
    /** What the log was told last, by class. */
    private final Map<String, Target.State> told = new ConcurrentHashMap<>();

    Promises(Entrance entrance) {
        this.entrance = entrance;
    }

    /** How the promise to a class stands; null without one. */
    Target.State state(Regime under, int classIndex) {
        if (!isByAdmissionAlone(under, classIndex)) {
            return under.targets.state(classIndex);
        }
        ClassSeen seen = entrance.seen(under.settings.classes().get(classIndex).name);
        return seen == null || seen.promised == null ? null : state(seen.promised);
    }

    private static Target.State state(Promised promised) {
        switch (promised) {
            case KEPT:
                return Target.State.KEPT;
            case BROKEN:
                return Target.State.REGAINED;
            default:
                return Target.State.IMPOSSIBLE;
        }
    }

    /** What was measured of what was promised: a share in time, or the throughput as a part of that alone; NaN without a promise. */
    double measured(Regime under, int classIndex) {
        if (!isByAdmissionAlone(under, classIndex)) {
            return under.targets.measured(classIndex);
        }
        ClassSeen seen = entrance.seen(under.settings.classes().get(classIndex).name);
        return seen == null ? Double.NaN : seen.inTime;
    }

    private static boolean isByAdmissionAlone(Regime under, int classIndex) {
        return classIndex >= 0
                && under.settings.classes().get(classIndex).promise != null
                && !under.settings.promiseBy().isByPauses();
    }

    /** Says it when it turns out that a promise cannot be kept, and when it is kept again. */
    void tell(Regime under, int classIndex) {
        Target.State state = state(under, classIndex);
        if (state == null || state == Target.State.REGAINED) {
            // It is not known yet what it will be.
            return;
        }
        ClassSettings of = under.settings.classes().get(classIndex);
        Target.State before = told.put(of.name, state);
        if (before == state) {
            return;
        }
        if (state == Target.State.IMPOSSIBLE) {
            LOGGER.log(Level.WARNING, "the promise to {0} cannot be kept: {1}", of.name, why(under.settings.promiseBy(), of.promise));
        } else if (before == Target.State.IMPOSSIBLE) {
            LOGGER.log(Level.INFO, "the promise to {0} can be kept again", of.name);
        }
    }

    private static String why(PromiseBy by, PromiseText promise) {
        String what = promise.response == null ? "fewer of its requests are completed" : "its answers are late";
        String though = by.isByPauses()
                ? "all other work is held to the least share"
                : "of all others without a cap of their own as few are let in as can be";
        return what + " though " + though;
    }

    /** Other settings hold from now on: what was told of a promise that is no longer what it was, nothing is compared with. */
    void follow(Regime before, Regime next) {
        told.keySet().removeIf(name -> !isAsItWas(before.settings, next.settings, name));
    }

    private static boolean isAsItWas(Settings before, Settings next, String name) {
        PromiseText is = promise(next, name);
        // What admission has learnt of a promise is gone once it was off; what pauses have learnt stays.
        boolean isLearnt = next.promiseBy().isByPauses() || next.isOn() == before.isOn();
        return is != null && is.equals(promise(before, name)) && next.promiseBy() == before.promiseBy() && isLearnt;
    }

    private static PromiseText promise(Settings settings, String name) {
        for (ClassSettings of : settings.classes()) {
            if (of.name.equals(name)) {
                return of.promise;
            }
        }
        return null;
    }
}
