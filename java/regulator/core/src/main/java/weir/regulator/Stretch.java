package weir.regulator;

import weir.regulator.pause.LastSeven;

/**
 * What one piece of work does between two test points of one checkpoint.
 *
 * <p>Reading the clock takes longer than everything else in a tick. So it is read once in so many ticks only, as many as take
 * about a quarter of the shortest stretch, and at most {@link #STRIDE_MAX}: then reading it costs less than a nanosecond a tick.
 */
final class Stretch {
    static final Stretch NOWHERE = new Stretch();
    private static final int STRIDE_MAX = 64;
    private static final int LOOKS = 4;
    /** A thread that does work of no end and has not come by for so long had nothing to do, as one of a pool between two tasks. */
    private static final long IDLE_NS = 100_000_000L;

    final CheckpointState checkpoint;
    final Work work;
    double done;
    int countdown = 1;
    private int stride = 1;
    private long lookedAt;
    private long since;
    private long collectedSince;
    private boolean began;
    /** Of the stretches here that are judged by their progress. */
    final OnCpu onCpu = new OnCpu();
    final LastSeven lastSeven = new LastSeven();

    private Stretch() {
        this.checkpoint = null;
        this.work = null;
    }

    Stretch(CheckpointState checkpoint, Work work) {
        this.checkpoint = checkpoint;
        this.work = work;
    }

    /** So many ticks have come that the clock is to be read. */
    void look(Object[] locks) {
        if (!work.pauses()) {
            countdown = Integer.MAX_VALUE;
            return;
        }
        long now = checkpoint.time().now();
        Regime regime = checkpoint.regime();
        if (began && !work.hasEnd() && now - lookedAt >= IDLE_NS) {
            work.beginsAnew();
            began = false;
        }
        if (!began) {
            begin(locks, regime, now);
            return;
        }
        adjustStride(now, regime.stretchMinNs);
        // Turns are taken for the time since the last one, wherever that was; progress is made between two ticks of one checkpoint.
        long from = regime.isPaced ? work.ranSince() : since;
        if (now - from < regime.stretchMinNs || (done <= 0 && !regime.isPaced)) {
            return;
        }
        long collected = GarbageCollections.totalNs();
        long collectedFrom = regime.isPaced ? work.collectedSince() : collectedSince;
        long took = Math.max(0, now - from - (collected - collectedFrom));
        boolean stoodStill = false;
        if (took >= regime.stretchMinNs) {
            stoodStill = checkpoint.stretch(this, locks, regime, took, now);
        } else if (!regime.isPaced) {
            onCpu.begin();
        }
        if (stoodStill || GarbageCollections.totalNs() != collected) {
            goOn(now, collected);
        } else {
            // What it waited for a CPU since is no pause, but time of the next stretch: the kernel may take the CPU away where it is asked for
            // the time on it.
            begin(now, collected);
            work.goesOn(since, collectedSince);
        }
    }

    /** What came before has no beginning that is known, but for the work's own, and its last turn at another checkpoint. */
    private void begin(Object[] locks, Regime regime, long now) {
        if (!regime.isPaced) {
            onCpu.begin();
        }
        if (!work.hasPassed()) {
            if (regime.isPaced) {
                checkpoint.begin(work, locks, regime, now);
            }
            begin(checkpoint.time().now(), GarbageCollections.totalNs());
            work.goesOn(since, collectedSince);
            return;
        }
        long collected = GarbageCollections.totalNs();
        long ran = Math.max(0, now - work.ranSince() - (collected - work.collectedSince()));
        if (regime.isPaced && ran >= regime.stretchMinNs) {
            checkpoint.stretch(this, locks, regime, ran, now);
            goOn(now, collected);
        } else {
            begin(now, collected);
        }
    }

    /** Goes on after what was here from this moment on. */
    private void goOn(long stoodSince, long collectedUntil) {
        begin(checkpoint.time().now(), GarbageCollections.totalNs());
        work.goesOn(since, collectedSince);
        work.stoodStill(this, since - stoodSince, collectedSince - collectedUntil);
    }

    private void begin(long now, long collected) {
        began = true;
        since = now;
        lookedAt = now;
        collectedSince = collected;
        done = 0;
        countdown = stride;
    }

    /** The work has stood still elsewhere for so long, of which so much was spent in collections of garbage. */
    void leaveOut(long nanos, long collectedNs) {
        since += nanos;
        lookedAt += nanos;
        collectedSince += collectedNs;
    }

    private void adjustStride(long now, long stretchMinNs) {
        long gap = now - lookedAt;
        lookedAt = now;
        if (gap < stretchMinNs / (2 * LOOKS)) {
            stride = Math.min(stride * 2, STRIDE_MAX);
        } else if (gap > stretchMinNs / LOOKS) {
            stride = Math.max(stride / 2, 1);
        }
        countdown = stride;
    }
}
