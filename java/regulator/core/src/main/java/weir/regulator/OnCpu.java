package weir.regulator;

import weir.regulator.pause.LastSeven;
import weir.regulator.pause.ProgressJudge;

/**
 * For how long the thread that makes stretches at a checkpoint had a CPU in them: of the first one, then of several together, and sooner
 * where it decides, because it costs something to ask ({@link ThreadCpu}).
 */
final class OnCpu {
    private static final int TOGETHER = 8;

    private static final long NOBODY = -1;

    /** By its id: a thread that is kept here would be kept by its own work. */
    private long thread = NOBODY;
    /** CPU time of the thread before the stretches that have not been told of. */
    private long cpuSince = ThreadCpu.UNKNOWN;
    private int due;
    private int stretches;
    private double done;
    private long tookNs;

    /** The calling thread begins: what was before does not belong to it. */
    void begin() {
        thread = Thread.currentThread().getId();
        due = 1;
        goOn(ThreadCpu.usedNs());
    }

    /** What comes is not told of, until it begins. */
    void forget() {
        thread = NOBODY;
    }

    /** A stretch is over, after so much progress and so long without pauses and collections of garbage: what to pause for it. */
    long judge(ProgressJudge judge, LastSeven lastSeven, double progress, long took) {
        if (thread != Thread.currentThread().getId()) {
            begin();
            return judge.judge(progress, took, lastSeven, () -> {});
        }
        stretches++;
        done += progress;
        tookNs += took;
        if (stretches >= due) {
            tell(judge);
        }
        return judge.judge(progress, took, lastSeven, () -> tell(judge));
    }

    private void tell(ProgressJudge judge) {
        long used = ThreadCpu.usedNs();
        if (stretches > 0 && cpuSince >= 0 && used >= 0) {
            judge.tell(stretches, done, tookNs, used - cpuSince);
        }
        due = TOGETHER;
        goOn(used);
    }

    private void goOn(long used) {
        cpuSince = used;
        stretches = 0;
        done = 0;
        tookNs = 0;
    }
}
