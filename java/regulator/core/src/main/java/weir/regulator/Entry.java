package weir.regulator;

import java.util.concurrent.atomic.AtomicBoolean;
import weir.regulator.limit.Kind;
import weir.regulator.limit.Permit;
import weir.regulator.limit.Why;

/** A request that has come to a {@link Regulator}: it was let in, and is to be finished; or it was refused. */
public final class Entry {
    private final Regulator regulator;
    private final Regime regime;
    private final int classIndex;
    /** Null if nothing held it. */
    private final Permit permit;
    private final Work work;
    private final AtomicBoolean finished = new AtomicBoolean();

    Entry(Regulator regulator, Regime regime, int classIndex, Permit permit, Work work) {
        this.regulator = regulator;
        this.regime = regime;
        this.classIndex = classIndex;
        this.permit = permit;
        this.work = work;
    }

    /** Whether it was let in. */
    public boolean isAdmitted() {
        return why() == null;
    }

    /** Why it was refused; null if it was not. */
    public Why why() {
        return permit == null ? null : permit.why();
    }

    /** Nanoseconds after which it would be let in if nobody else came, if it was refused. */
    public long retryAfterNs() {
        return permit == null ? 0 : permit.retryAfterNs();
    }

    /** What runs for it, if it was let in: to be bound to the threads that do. */
    public Work work() {
        return work;
    }

    /**
     * It is over: the slot is given back, and what became of it counts. Only the first call does something, so that every way in
     * which a request can end may say so.
     *
     * @return whether this call was the first
     */
    public boolean finish(Kind kind) {
        if (!isAdmitted() || !finished.compareAndSet(false, true)) {
            return false;
        }
        if (permit != null) {
            regulator.finish(regime, classIndex, permit, kind);
        }
        return true;
    }
}
