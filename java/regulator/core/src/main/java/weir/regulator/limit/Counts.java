package weir.regulator.limit;

/** Requests counted since the beginning. Those that arrived are admitted, refused, abandoned while they waited, or still wait. */
final class Counts {
    long arrived;
    /** At once or after a wait. */
    long admitted;
    /** Of those, the ones that waited. */
    long waited;
    /** Sum of their waits. */
    long waitTotalNs;
    /** The longest of their waits. */
    long waitMaxNs;
    /** By why, in the order of {@link Why}. */
    final long[] refused = new long[Why.values().length];
    /** Requests whose client left while they waited. */
    long abandoned;
    /** Admitted requests that are over. */
    long finished;

    void waited(long waitNs) {
        waited++;
        waitTotalNs += waitNs;
        waitMaxNs = Math.max(waitMaxNs, waitNs);
    }
}
