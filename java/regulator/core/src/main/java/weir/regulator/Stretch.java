package weir.regulator;

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

    final CheckpointState checkpoint;
    final Work work;
    double done;
    int countdown = 1;
    private int stride = 1;
    private long lookedAt;
    private long since;
    private long collectedSince;
    private boolean began;

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
        if (!began) {
            // What came before has no beginning that is known, but for the work's own.
            began = true;
            checkpoint.begin(this, locks, now);
            begin(checkpoint.time().now());
            return;
        }
        Regime regime = checkpoint.regime();
        adjustStride(now, regime.stretchMinNs);
        long took = now - since;
        if (took < regime.stretchMinNs || (done <= 0 && !regime.isPaced)) {
            return;
        }
        long collected = GarbageCollections.totalNs();
        took = Math.max(0, took - (collected - collectedSince));
        if (took >= regime.stretchMinNs) {
            checkpoint.stretch(this, locks, regime, took, now);
        }
        begin(checkpoint.time().now());
    }

    private void begin(long now) {
        since = now;
        lookedAt = now;
        collectedSince = GarbageCollections.totalNs();
        done = 0;
        countdown = stride;
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
