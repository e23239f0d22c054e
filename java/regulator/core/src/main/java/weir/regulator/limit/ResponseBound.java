package weir.regulator.limit;

/**
 * A limit by response times: the share of requests that are answered within a time.
 *
 * <p>Stochastic approximation of a quantile (Robbins and Monro 1951): a request that was too late takes 5 % of the limit, one
 * that was in time adds 5 % · (1 − share)/share, so that the limit rests where exactly that share is in time. It adds only while
 * somebody waits, and never goes far above the limit that really holds.
 *
 * <p>That is slow on the way up: after a bad time in which all were late, a bound of a tenth would need 4,600 requests in time.
 * So it is remembered where the bound has rested, as the mean over about a thousand requests in time. Below four fifths of
 * that, it adds 1 % with each once 50 in a row have been in time. Where 10 % are late, that is a chance of 0.5 %.
 */
public final class ResponseBound {
    /** What one request that was too late takes. */
    private static final double STEP = 0.05;
    /** How far above the limit that holds. */
    private static final double HEADROOM = 1.25;
    /** Weight of a request in time in where the bound has rested. */
    private static final double WEIGHT = 0.001;
    /** Below this part of that, the bound goes back. */
    private static final double FAR = 0.8;
    /** By how much with each request in time, and after how many of them in a row. */
    private static final double STEP_BACK = 0.01;
    private static final int IN_A_ROW = 50;

    private double bound = Double.POSITIVE_INFINITY;
    /** Where it has rested; NaN before there is a bound. */
    private double rested = Double.NaN;
    /** Requests in time since the last that was late. */
    private int inARow;

    /** Without a bound until the first request that is too late. */
    public ResponseBound() {}

    /** The lower of the two. */
    public double within(double limit) {
        return Math.min(bound, limit);
    }

    /** It goes no lower than this. */
    void keepAbove(double least) {
        bound = Math.max(bound, least);
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
            if (Double.isNaN(rested)) {
                rested = most;
            }
            bound = Math.min(bound, most) * (1 - STEP);
            inARow = 0;
        } else if (pressed && !Double.isNaN(rested)) {
            inARow = Math.min(inARow + 1, IN_A_ROW);
            double step = STEP_BACK;
            if (!goesBack()) {
                rested += WEIGHT * (bound - rested);
                step = STEP * (1 - share) / share;
            }
            if (bound < most) {
                bound = Math.min(bound * (1 + step), most);
            }
        }
    }

    /** Whether it is on its way back from a bad time, and not where it rests. */
    private boolean goesBack() {
        return bound < FAR * rested && inARow >= IN_A_ROW;
    }
}
