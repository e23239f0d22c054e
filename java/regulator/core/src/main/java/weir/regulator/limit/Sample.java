package weir.regulator.limit;

/** What a request that is over tells. */
final class Sample {
    /** From admission to the end. */
    final long responseNs;
    /** From arrival to admission. */
    final long waitedNs;
    /** Requests in flight when it was admitted, itself included. */
    final int inFlight;
    final Kind kind;

    Sample(long responseNs, long waitedNs, int inFlight, Kind kind) {
        this.responseNs = responseNs;
        this.waitedNs = waitedNs;
        this.inFlight = inFlight;
        this.kind = kind;
    }
}
