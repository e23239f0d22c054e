package weir.regulator.limit;

/**
 * A limit by response times: the share of requests that are answered within a time.
 *
 * <p>Stochastic approximation of a quantile (Robbins and Monro 1951): a request that was too late takes 5 % of the limit, one
 * that was in time adds 5 % · (1 − share)/share, so that the limit rests where exactly that share is in time. It adds only while
 * somebody waits, and never goes far above the limit that really holds.
 */
public final class ResponseBound {
    /** What one request that was too late takes. */
    private static final double STEP = 0.05;
    /** How far above the limit that holds. */
    private static final double HEADROOM = 1.25;

    private double bound = Double.POSITIVE_INFINITY;

    /** Without a bound until the first request that is too late. */
    public ResponseBound() {}

    /** The lower of the two. */
    public double within(double limit) {
        return Math.min(bound, limit);
    }

    /**
     * A request was in time or not.
     *
     * @param share the share of requests that is to be in time
     * @param limit the limit that held
     * @param pressed whether the limit holds somebody back
     */
    public void answered(boolean inTime, double share, double limit, boolean pressed) {
        double most = limit * HEADROOM;
        if (!inTime) {
            bound = Math.min(bound, most) * (1 - STEP);
        } else if (pressed && bound < most) {
            bound = Math.min(bound * (1 + STEP * (1 - share) / share), most);
        }
    }
}
