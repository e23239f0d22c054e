package weir.regulator.limit;

/** How a class stands, and what it has counted. Times are nanoseconds. */
public final class ClassSeen {
    /** Its name. */
    public final String name;
    /** The limit on its requests in flight; infinite without one. */
    public final double limit;
    /** Requests in flight. */
    public final int inFlight;
    /** Requests that wait. */
    public final int queued;
    /** Whether its queue has been standing for so long that those who came last are taken first. */
    public final boolean newestFirst;
    /** Requests that arrived. */
    public final long arrived;
    /** Requests admitted, at once or after a wait. */
    public final long admitted;
    /** Of those, the ones that waited. */
    public final long waited;
    /** Sum of their waits. */
    public final long waitTotalNs;
    /** The longest of their waits. */
    public final long waitMaxNs;
    /** Requests whose client left while they waited. */
    public final long abandoned;
    /** Admitted requests that are over. */
    public final long finished;
    /** Of about the last thousand requests of a class with a promise of response time, the share in time; else NaN. */
    public final double inTime;
    /** How that promise stands, as far as admission keeps it; null without one. */
    public final Promised promised;

    private final long[] refused;

    ClassSeen(ServiceClass of, boolean isRestLeast) {
        this.name = of.name;
        this.limit = of.cap.limit();
        this.inFlight = of.cap.inFlight();
        this.queued = of.line.length();
        this.newestFirst = of.standing.newestFirst();
        this.arrived = of.counts.arrived;
        this.admitted = of.counts.admitted;
        this.waited = of.counts.waited;
        this.waitTotalNs = of.counts.waitTotalNs;
        this.waitMaxNs = of.counts.waitMaxNs;
        this.abandoned = of.counts.abandoned;
        this.finished = of.counts.finished;
        this.inTime = of.promise == null ? Double.NaN : of.promise.inTime();
        this.promised = of.promise == null ? null : Promised.of(of.promise, isRestLeast);
        this.refused = of.counts.refused.clone();
    }

    /** Requests refused for this reason. */
    public long refusedFor(Why why) {
        return refused[why.ordinal()];
    }
}
