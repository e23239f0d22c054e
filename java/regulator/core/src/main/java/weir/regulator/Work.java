package weir.regulator;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import weir.regulator.pause.Pace;
import weir.regulator.pause.Turn;

/**
 * A piece of work that has a beginning and an end, such as a request: where pauses at checkpoints are counted, and how many of
 * them its deadline allows.
 *
 * <p>A filter begins one for each request. Work of other kinds says so itself:
 *
 * <pre>{@code
 * try (Work.Bound bound = Work.begin(Duration.ofMinutes(10)).bind()) {
 *     for (Row row : rows) {
 *         write(row);
 *         EXPORT.tick(1);
 *     }
 * }
 * }</pre>
 *
 * <p>One thread at a time does a piece of work; {@link #wrap} hands it on.
 */
public final class Work {
    /**
     * What the calling thread works on, held weakly: threads of the container outlive an application, and one that is deployed again
     * must not stay in memory for what they did last. Who binds a piece of work holds it.
     */
    private static final ThreadLocal<WeakReference<Work>> CURRENT = new ThreadLocal<>();
    /** What threads do that have begun no work, each for as long as it lives. */
    private static final Map<Thread, Work> WITHOUT_END = Collections.synchronizedMap(new WeakHashMap<>());

    private final WeakReference<Work> weakly = new WeakReference<>(this);
    private final Regulator regulator;
    private final boolean pauses;
    /** When it could begin to run: it may have waited before. */
    private final long began;
    private final long deadline;
    /** Where it stands among the work that takes turns. */
    final Turn turn = new Turn();
    /** Where it was last, and where else it has been. */
    Stretch last = Stretch.NOWHERE;
    private Stretch[] stretches = {};
    private long pausedNs;
    /** Its last turn, at whatever checkpoint. */
    private long ranSince;
    private long collectedSince;
    /** CPU time of the thread that went on then, where it is watched. */
    private long cpuSince = ThreadCpu.UNKNOWN;
    private boolean watchesCpu;
    /** By its id: a thread that is kept here would be kept by its own work. */
    private long thread;
    private boolean hasPassed;
    /** How long it has run since it gave way. */
    private long inTheWayNs;

    Work(Regulator regulator, boolean pauses, long began, long deadlineNs) {
        this(regulator, pauses, began, began, deadlineNs);
    }

    /** Work that came at a moment, from which its deadline counts, and had to wait until it began. */
    Work(Regulator regulator, boolean pauses, long came, long began, long deadlineNs) {
        this.regulator = regulator;
        this.pauses = pauses;
        this.began = began;
        long deadline = came + Math.max(0, deadlineNs);
        this.deadline = deadline < 0 ? Long.MAX_VALUE : deadline;
    }

    /** Work that begins now and is to be over within this time, pauses included. */
    public static Work begin(Duration deadline) {
        return Regulator.shared().begin(deadline);
    }

    /** The calling thread's work; what it does without having begun any is work without end. */
    static Work ofThread(Regulator regulator) {
        Work work = current();
        if (work == null) {
            work = new Work(regulator, true, regulator.time().now(), Long.MAX_VALUE);
            WITHOUT_END.put(Thread.currentThread(), work);
            CURRENT.set(work.weakly);
        }
        return work;
    }

    /** What the calling thread works on, or null. */
    static Work current() {
        WeakReference<Work> current = CURRENT.get();
        return current == null ? null : current.get();
    }

    /** The calling thread works on nothing. */
    static void leave() {
        CURRENT.remove();
        WITHOUT_END.remove(Thread.currentThread());
    }

    /** Lets the calling thread work on it until the result is closed. */
    public Bound bind() {
        Work before = current();
        CURRENT.set(weakly);
        return new Bound(before);
    }

    /** The same task as part of the calling thread's work, wherever it runs. */
    public static Runnable wrap(Runnable task) {
        Work work = current();
        if (work == null) {
            return task;
        }
        return () -> {
            try (Bound bound = work.bind()) {
                bound.run(task);
            }
        };
    }

    /** The stretch of this work at a checkpoint, which begins if there is none. */
    Stretch at(CheckpointState checkpoint) {
        for (Stretch stretch : stretches) {
            if (stretch.checkpoint == checkpoint) {
                last = stretch;
                return stretch;
            }
        }
        Stretch stretch = new Stretch(checkpoint, this);
        Stretch[] more = Arrays.copyOf(stretches, stretches.length + 1);
        more[stretches.length] = stretch;
        stretches = more;
        last = stretch;
        return stretch;
    }

    /** Whether it ever pauses. */
    boolean pauses() {
        return pauses;
    }

    /** Whether it was begun as a piece of work, and is not just what a thread does. */
    boolean hasEnd() {
        return deadline != Long.MAX_VALUE;
    }

    long began() {
        return began;
    }

    long pausedNs() {
        return pausedNs;
    }

    void paused(long nanos) {
        pausedNs += nanos;
    }

    /** Whether it has come to a checkpoint before. */
    boolean hasPassed() {
        return hasPassed;
    }

    /** Since when it has run without having taken a turn for that, once it has passed a checkpoint. */
    long ranSince() {
        return ranSince;
    }

    /** For how long garbage had been collected then. */
    long collectedSince() {
        return collectedSince;
    }

    /** Whether it matters for how long it has a CPU: not while nobody is there for whom it would have to stand still. */
    void watchesCpu(boolean watches) {
        watchesCpu = watches;
    }

    /** It has taken its turn for what it ran, and goes on. */
    void goesOn(long now, long collectedNs) {
        hasPassed = true;
        ranSince = now;
        collectedSince = collectedNs;
        thread = Thread.currentThread().getId();
        cpuSince = watchesCpu ? ThreadCpu.usedNs() : ThreadCpu.UNKNOWN;
    }

    /** What came before says nothing of what comes: its thread has done something else in between, or nothing. */
    void beginsAnew() {
        hasPassed = false;
    }

    /**
     * For how long it ran while this time passed: no longer than its thread had a CPU, or could have waited for one. The rest it waited
     * for something else, such as a disk, a database or a client that reads slowly. Where the time on a CPU is not known, whatever is
     * longer than others wait for it to come back is taken for such a wait.
     */
    long ranNs(long tookNs) {
        if (tookNs <= Pace.AWAY_NS) {
            return tookNs;
        }
        long used = ThreadCpu.usedNs();
        boolean isTold = used >= 0 && cpuSince >= 0 && thread == Thread.currentThread().getId();
        return isTold ? Math.min(tookNs, Math.max(Pace.AWAY_NS, used - cpuSince)) : Pace.AWAY_NS;
    }

    /** It has stood still at the checkpoint of one stretch: to the others that is no time that they took. */
    void stoodStill(Stretch at, long nanos, long collectedNs) {
        for (Stretch stretch : stretches) {
            if (stretch != at) {
                stretch.leaveOut(nanos, collectedNs);
            }
        }
    }

    /** Whether it is to give way after another stretch, having run for so long since it last did. */
    boolean owesWay(long ranNs, long afterNs) {
        inTheWayNs += ranNs;
        if (inTheWayNs < afterNs) {
            return false;
        }
        inTheWayNs = 0;
        return true;
    }

    /**
     * How long it may pause now, in nanoseconds. As much time as it has run for so far is kept back for what remains of it, which
     * nobody knows.
     */
    long mayPauseNs(long now) {
        if (deadline == Long.MAX_VALUE) {
            return Long.MAX_VALUE;
        }
        long ran = Math.max(0, now - began - pausedNs);
        return Math.max(0, deadline - now - ran);
    }

    /** The work of a thread, until it is closed. */
    public final class Bound implements AutoCloseable {
        private final Work before;

        private Bound(Work before) {
            this.before = before;
        }

        private void run(Runnable task) {
            task.run();
        }

        /** The thread goes on with what it worked on before. */
        @Override
        public void close() {
            if (last != Stretch.NOWHERE) {
                regulator.pace().leaves(turn);
            }
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before.weakly);
            }
        }
    }
}
