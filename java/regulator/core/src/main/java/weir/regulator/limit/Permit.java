package weir.regulator.limit;

/**
 * A request at an {@link Admission}: it waits, or is in flight, or was refused.
 *
 * <p>Not safe for threads, as the admission is not.
 */
public final class Permit {
    /** What has become of the request. */
    public enum State {
        /** A verdict follows, within the longest wait. */
        WAITING,
        /** It goes on, and is to be finished. */
        GRANTED,
        /** It is rejected. */
        REFUSED,
        /** Its client left while it waited. */
        ABANDONED,
        /** It is over. */
        FINISHED
    }

    /** The class, by the admission's own count, which stays when rules change. */
    final int classIndex;
    final long arrived;
    State state = State.WAITING;
    long admitted;
    /** Requests in flight when it was admitted, itself included. */
    int inFlight;
    /** The same of its class. */
    int classInFlight;
    /** Its neighbours while it waits. */
    Permit older;
    Permit newer;
    /** For whoever has to tell it what became of it. */
    private Object holder;
    private Why why;
    private long retryAfterNs;

    Permit(int classIndex, long arrived) {
        this.classIndex = classIndex;
        this.arrived = arrived;
    }

    void refuse(Why why, long retryAfterNs) {
        this.state = State.REFUSED;
        this.why = why;
        this.retryAfterNs = retryAfterNs;
    }

    /** What has become of it. */
    public State state() {
        return state;
    }

    /** When it came. */
    public long arrived() {
        return arrived;
    }

    /** When it was admitted, if it was. */
    public long admitted() {
        return admitted;
    }

    /** How long it waited to be admitted, in nanoseconds, if it was. */
    public long waitedNs() {
        return Seconds.since(arrived, admitted);
    }

    /** Why it was refused; null unless it was. */
    public Why why() {
        return why;
    }

    /**
     * If it was refused: nanoseconds until it would be admitted at once if nobody else came. Exact for a rate; for concurrency,
     * expected from the mean response time, and the longest wait as long as no response has been seen.
     */
    public long retryAfterNs() {
        return retryAfterNs;
    }

    /** Something of the caller's own, such as the thread that waits. */
    public Object holder() {
        return holder;
    }

    /** Keeps something of the caller's own. */
    public void setHolder(Object holder) {
        this.holder = holder;
    }
}
