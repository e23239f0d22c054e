package weir.regulator;

import java.util.Arrays;

/**
 * A place in long work where it can stand back for others: where it holds nothing that others need.
 *
 * <pre>{@code
 * private static final Checkpoint REPORT = Checkpoint.of("report");
 * ...
 * for (Row row : rows) {
 *     write(row);
 *     REPORT.tick(1);
 * }
 * }</pre>
 *
 * <p>Whether, when and for how long the calling thread pauses in a tick follows from the promises that were made to other classes
 * of requests, or, where none were, from the progress of the work itself ({@link weir.regulator.pause}).
 *
 * <p>Put it where a tick comes about every millisecond or more often: nobody can be stopped between two. Of ticks that come much
 * more often only some look at the clock, at the least every 64th; so they are best about as far apart all the time. A tick in which
 * nothing is to be done takes some nanoseconds.
 */
public final class Checkpoint {
    private static final Object[] NO_LOCKS = {};

    private final CheckpointState state;
    private final Object[] locks;

    Checkpoint(CheckpointState state) {
        this(state, NO_LOCKS);
    }

    private Checkpoint(CheckpointState state, Object[] locks) {
        this.state = state;
        this.locks = locks;
    }

    /** The checkpoint of this name; the same for all that ask for it. */
    public static Checkpoint of(String name) {
        return Regulator.shared().checkpoint(name);
    }

    /**
     * The same checkpoint for code that may hold this lock: while the calling thread does, it never pauses.
     *
     * @param lock an object that is synchronized on, a {@link java.util.concurrent.locks.ReentrantLock}, a {@link
     *     java.util.concurrent.locks.ReentrantReadWriteLock} or its write lock, or a {@link
     *     java.util.concurrent.locks.StampedLock}, with which nobody pauses while any thread holds it
     * @throws IllegalArgumentException if it is another {@link java.util.concurrent.locks.Lock}, such as a read lock: those cannot
     *     say whether the calling thread holds them
     */
    public Checkpoint guarded(Object lock) {
        Object[] more = Arrays.copyOf(locks, locks.length + 1);
        more[locks.length] = HeldLocks.check(lock);
        return new Checkpoint(state, more);
    }

    /**
     * So much has been done since the last tick, in units that take about the same time each: rows, pages, bytes. The thread may
     * stand still before this returns.
     *
     * @param progress 0 for a place where it can pause though nothing has been done, such as the beginning; what is negative,
     *     infinite or NaN counts as that, too
     */
    public void tick(double progress) {
        if (!state.isOn()) {
            return;
        }
        Work work = Work.current();
        Stretch stretch = work != null && work.last.checkpoint == state ? work.last : state.stretchOf(work);
        if (progress > 0 && progress < Double.POSITIVE_INFINITY) {
            stretch.done += progress;
        }
        if (--stretch.countdown <= 0) {
            stretch.look(locks);
        }
    }
}
