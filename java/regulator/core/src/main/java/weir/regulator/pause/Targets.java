package weir.regulator.pause;

import java.util.List;
import java.util.Objects;

/**
 * All promises that pauses keep, each of one class: others run as much as the strictest of them leaves over.
 *
 * <p>Those that are not in force, because the settings have changed or are off, say nothing to the pace.
 */
public final class Targets {
    /**
     * So long after its last request a class with a promise counts as gone, and others run as they like. What has been found is
     * kept for when it comes back.
     */
    private static final long GONE_NS = 1_000_000_000L;

    private final Pace pace;
    private final List<Target> targets;
    /** Guards all targets: one may be of those that were in force and of those that are. */
    private final Object lock;
    private boolean isInForce;

    /** Of each class in order its target, or null; in force at once. */
    public Targets(List<Target> targets, Pace pace) {
        this(targets, pace, new Object());
        isInForce = true;
        targets.stream().filter(Objects::nonNull).forEach(target -> target.heldBy = this);
    }

    private Targets(List<Target> targets, Pace pace, Object lock) {
        this.targets = targets;
        this.pace = pace;
        this.lock = lock;
    }

    /**
     * Those that follow these, which are no longer in force. Targets that are among both go on with what they have found, and so do
     * those who stand still for them.
     *
     * @param targets of each class in order its target, or null
     * @param inForce whether they are to be kept; otherwise nobody stands still for them
     */
    public Targets follow(List<Target> targets, boolean inForce, long now) {
        synchronized (lock) {
            Targets next = new Targets(targets, pace, lock);
            if (!isInForce) {
                targets.stream().filter(Objects::nonNull).forEach(Target::resume);
            }
            isInForce = false;
            hold(null);
            next.isInForce = inForce;
            next.hold(inForce ? next : null);
            pace.setShare(inForce ? next.share(now) : Double.POSITIVE_INFINITY, now);
            return next;
        }
    }

    private void hold(Targets by) {
        targets.stream().filter(Objects::nonNull).forEach(target -> target.heldBy = by);
    }

    /** Whether anything was promised. */
    public boolean isEmpty() {
        return targets.stream().allMatch(Objects::isNull);
    }

    /** Whether a class was promised something that pauses keep. */
    public boolean isPromised(int index) {
        return target(index) != null;
    }

    /** The target of a class, or null. */
    public Target target(int index) {
        return index >= 0 && index < targets.size() ? targets.get(index) : null;
    }

    /** A request of a class is admitted. */
    public void began(int index, long now) {
        synchronized (lock) {
            if (isPromised(index)) {
                Target target = targets.get(index);
                if (!isHere(target, now)) {
                    target.resume();
                }
                target.inFlight++;
                target.lastSeen = now;
            }
        }
    }

    /** A request of a class has ended after so long, its wait for admission included. */
    public void answered(int index, long afterNs, boolean completed, long now) {
        synchronized (lock) {
            if (isPromised(index)) {
                Target target = targets.get(index);
                target.inFlight--;
                target.lastSeen = now;
                if (target.heldBy != null) {
                    target.answered(afterNs, completed, now);
                    target.heldBy.steer(now);
                }
            }
        }
    }

    /** Others have run until now. */
    public void passed(long now) {
        synchronized (lock) {
            if (!isInForce) {
                return;
            }
            for (Target target : targets) {
                if (target != null && isHere(target, now)) {
                    target.passed(now);
                }
            }
            steer(now);
        }
    }

    private void steer(long now) {
        pace.setShare(share(now), now);
    }

    /** This part of the CPUs' time was in use since the last reading. */
    public void busy(double part) {
        synchronized (lock) {
            targets.stream().filter(Objects::nonNull).forEach(target -> target.busy(part));
        }
    }

    private static boolean isHere(Target target, long now) {
        return target.inFlight > 0 || now - target.lastSeen < GONE_NS;
    }

    private double share(long now) {
        double share = Double.POSITIVE_INFINITY;
        for (Target target : targets) {
            if (target != null && isHere(target, now)) {
                share = Math.min(share, target.share());
            }
        }
        return share;
    }

    /** Whether requests of a class with a promise have come of late. */
    public boolean isSomebodyHere(long now) {
        synchronized (lock) {
            for (Target target : targets) {
                if (target != null && isHere(target, now)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Whether requests of a class have come of late whose promise asks for how long they waited before they were seen. */
    public boolean isLatenessWanted(long now) {
        synchronized (lock) {
            for (Target target : targets) {
                if (target != null && target.countsWaits() && isHere(target, now)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** How long a stretch of others should be at most, in nanoseconds. */
    public long graceNs() {
        long grace = Long.MAX_VALUE;
        for (Target target : targets) {
            grace = target == null ? grace : Math.min(grace, target.graceNs());
        }
        return grace;
    }

    /** How a class's promise stands; null without one. */
    public Target.State state(int index) {
        synchronized (lock) {
            return isPromised(index) ? targets.get(index).state() : null;
        }
    }

    /** What was measured of what was promised; NaN without a promise. */
    public double measured(int index) {
        synchronized (lock) {
            return isPromised(index) ? targets.get(index).measured() : Double.NaN;
        }
    }
}
