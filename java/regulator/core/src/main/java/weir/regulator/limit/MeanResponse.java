package weir.regulator.limit;

/** The mean of the last response times, exponentially weighted; unknown before the first. */
final class MeanResponse {
    /** Weight of one response. */
    private static final double WEIGHT = 0.1;

    private boolean known;
    private double meanS;

    void add(long responseNs) {
        double seconds = Seconds.of(responseNs);
        meanS = known ? meanS + WEIGHT * (seconds - meanS) : seconds;
        known = true;
    }

    /** How long it takes until the slot is free that so many others leave, with so many slots; else {@code unknownNs}. */
    long waitBehind(int ahead, double slots, long unknownNs) {
        return known ? Seconds.toNanos(meanS * (ahead + 1) / slots) : unknownNs;
    }
}
