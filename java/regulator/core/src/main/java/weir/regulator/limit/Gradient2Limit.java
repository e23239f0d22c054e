package weir.regulator.limit;

/**
 * The limit of the gradient of response times.
 *
 * <p>Once a second, with at least ten responses, of which the mean is S, and the long-term mean B (exponential, over 600 such
 * windows): g = min(1, max(0.5, 1.5 B/S)), L ← 0.8 L + 0.2 (g L + 4), between 20 and 200. B is lowered by 5 % while it is more
 * than twice S. Nothing changes while less than half of the limit was in use. Rules and defaults are those of Netflix'
 * concurrency-limits.
 *
 * <p>B follows S, so under an overload that lasts the gradient goes back to 1 and the four that are added each time make L creep
 * upwards; and 20 at least is more than many an application on two cores can use.
 */
final class Gradient2Limit extends Limit {
    private static final long WINDOW_NS = 1_000_000_000L;
    /** Responses that a window needs. */
    private static final int WINDOW_SAMPLES = 10;
    /** Shorter response times are not looked at. */
    private static final long LEAST_NS = 100_000L;
    /** Windows over which the long-term mean is taken. */
    private static final double LONG = 600.0;
    /** Windows at the begin, of which it is the plain mean. */
    private static final double WARM_UP = 10.0;
    /** Share of the new limit in the next one. */
    private static final double SMOOTHING = 0.2;
    /** By which the response time may rise above the long-term mean. */
    private static final double TOLERANCE = 1.5;
    /** What is added for a queue. */
    private static final double QUEUE = 4.0;

    private final Gradient2 rules;
    private double limit;
    /** Long-term mean, and of how many windows. */
    private double longS;
    private double windows;
    /** The window that runs. */
    private long ends = Admission.NEVER;
    private int samples;
    private double sumS;
    private int inFlightMax;

    Gradient2Limit(Gradient2 rules) {
        this.rules = rules;
        this.limit = rules.start;
    }

    @Override
    double limit() {
        return limit;
    }

    @Override
    void finished(Sample sample, long now) {
        if (sample.responseNs < LEAST_NS) {
            return;
        }
        samples++;
        sumS += Seconds.of(sample.responseNs);
        inFlightMax = Math.max(inFlightMax, sample.inFlight);
        if (ends == Admission.NEVER) {
            ends = Seconds.later(now, WINDOW_NS);
        }
        if (now >= ends && samples >= WINDOW_SAMPLES) {
            update(sumS / samples);
            samples = 0;
            sumS = 0;
            inFlightMax = 0;
            ends = Seconds.later(now, WINDOW_NS);
        }
    }

    private void update(double shortS) {
        lengthen(shortS);
        if (longS / shortS > 2) {
            longS *= 0.95;
        }
        if (inFlightMax < limit / 2) {
            return;
        }
        double gradient = Math.min(Math.max(TOLERANCE * longS / shortS, 0.5), 1);
        double next = limit * (1 - SMOOTHING) + SMOOTHING * (gradient * limit + QUEUE);
        limit = Math.max(Math.min(next, rules.max), rules.min);
    }

    /** Takes a window into the long-term mean. */
    private void lengthen(double shortS) {
        if (windows < WARM_UP) {
            windows += 1;
            longS += (shortS - longS) / windows;
        } else {
            longS += (shortS - longS) * 2 / (LONG + 1);
        }
    }
}
