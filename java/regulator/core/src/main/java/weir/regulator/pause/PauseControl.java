package weir.regulator.pause;

/**
 * Work of one thread that pauses by its progress: adds up test points that come early, and has a {@link ProgressJudge} judge.
 *
 * <p>The same steps as the gateway's implementation, by the same vectors.
 */
public final class PauseControl {
    private final ProgressJudge judge;
    private long since;
    /** Progress and pauses since then that no stretch has counted yet. */
    private double done;
    private long pausedNs;

    /** Work that begins. */
    public PauseControl(ProgressJudge judge, long now) {
        this.judge = judge;
        this.since = now;
    }

    /**
     * A test point.
     *
     * @param done progress since the last one
     * @param pausedNs time since then in which the work stood still on its own account: pauses, collections of garbage
     * @return for how long it is to pause now, in nanoseconds; 0: not at all
     */
    public long testPoint(double done, long pausedNs, long now) {
        this.done += done;
        this.pausedNs += pausedNs;
        long took = Math.max(0, Math.max(0, now - since) - this.pausedNs);
        if (took < judge.rules().stretchMinNs || this.done <= 0) {
            return 0;
        }
        double stretch = this.done;
        begin(now);
        return judge.judge(stretch, took);
    }

    /** A new stretch begins, whatever was before. */
    public void begin(long now) {
        since = now;
        done = 0;
        pausedNs = 0;
    }
}
