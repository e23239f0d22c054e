package weir.regulator.pause;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** All promises that pauses keep, each of one class: others run as much as the strictest of them leaves over. */
public final class Targets {
    /**
     * So long after its last request a class with a promise counts as gone, and others run as they like. What has been found is
     * kept for when it comes back.
     */
    private static final long GONE_NS = 1_000_000_000L;

    private final Pace pace;
    private final List<Target> targets;
    private final long[] lastSeen;
    private final int[] inFlight;

    /** Of each class in order its target, or null. */
    public Targets(List<Target> targets, Pace pace) {
        this.targets = targets;
        this.pace = pace;
        this.inFlight = new int[targets.size()];
        this.lastSeen = new long[targets.size()];
        Arrays.fill(lastSeen, Long.MIN_VALUE / 2);
    }

    /** Whether anything was promised. */
    public boolean isEmpty() {
        return targets.stream().allMatch(target -> target == null);
    }

    /** Whether a class was promised something: then its own work never pauses. */
    public boolean isPromised(int index) {
        return index < targets.size() && targets.get(index) != null;
    }

    /** A request of a class is admitted. */
    public synchronized void began(int index, long now) {
        if (isPromised(index)) {
            inFlight[index]++;
            lastSeen[index] = now;
        }
    }

    /** A request of a class has ended after so long, its wait for admission included. */
    public synchronized void answered(int index, long afterNs, boolean completed, long now) {
        if (isPromised(index)) {
            inFlight[index]--;
            lastSeen[index] = now;
            targets.get(index).answered(afterNs, completed, now);
            pace.setShare(share(now), now);
        }
    }

    /** Others have run until now. */
    public synchronized void passed(long now) {
        for (int index = 0; index < lastSeen.length; index++) {
            if (isPromised(index) && isHere(index, now)) {
                targets.get(index).passed(now);
            }
        }
        pace.setShare(share(now), now);
    }

    /** This part of the CPUs' time was in use since the last reading. */
    public synchronized void busy(double part) {
        targets.stream().filter(Objects::nonNull).forEach(target -> target.busy(part));
    }

    private boolean isHere(int index, long now) {
        return inFlight[index] > 0 || now - lastSeen[index] < GONE_NS;
    }

    private double share(long now) {
        double share = Double.POSITIVE_INFINITY;
        for (int index = 0; index < lastSeen.length; index++) {
            if (isPromised(index) && isHere(index, now)) {
                share = Math.min(share, targets.get(index).share());
            }
        }
        return share;
    }

    /** Whether requests of a class with a promise have come of late. */
    public synchronized boolean isSomebodyHere(long now) {
        for (int index = 0; index < lastSeen.length; index++) {
            if (isPromised(index) && isHere(index, now)) {
                return true;
            }
        }
        return false;
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
    public synchronized Target.State state(int index) {
        return isPromised(index) ? targets.get(index).state() : null;
    }

    /** What was measured of what was promised; NaN without a promise. */
    public synchronized double measured(int index) {
        return isPromised(index) ? targets.get(index).measured() : Double.NaN;
    }
}
