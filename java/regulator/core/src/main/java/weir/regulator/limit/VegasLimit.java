package weir.regulator.limit;

/**
 * The limit of TCP Vegas.
 *
 * <p>With L in flight, of which each takes R where it took R0 without a queue, q = ⌈L (1 − R0/R)⌉ of them wait at the server
 * (Brakmo and Peterson 1995). With d = max(1, ⌊log10 L⌋): q up to d adds 6 d, below 3 d adds d, above 6 d takes d, as a failed
 * request does. Nothing changes while less than half of the limit is in use. R0 is the least response time seen. So that it can
 * rise too, it is set to the present one after every 30 L responses times a number between 0.5 and 1 (the rules and the defaults
 * are those of Netflix' concurrency-limits).
 *
 * <p>One request that was quick by luck becomes R0, and one that was slow, if it comes when R0 is set anew.
 */
final class VegasLimit extends Limit {
    /** After how many responses per slot R0 is set anew. */
    private static final double PROBE_MULTIPLIER = 30.0;
    /** The increment of a Weyl sequence, 2^64 over the golden ratio: spreads the probes without a random source. */
    private static final long WEYL = 0x9e3779b97f4a7c15L;
    private static final long UNKNOWN = Long.MAX_VALUE;

    private final Vegas rules;
    private double limit;
    private long leastNs = UNKNOWN;
    private double sinceProbe;
    private long spread = WEYL;

    VegasLimit(Vegas rules) {
        this.rules = rules;
        this.limit = rules.start;
    }

    @Override
    double limit() {
        return limit;
    }

    @Override
    void finished(Sample sample, long now) {
        if (sample.responseNs == 0) {
            return;
        }
        sinceProbe += 1;
        if (sinceProbe >= jitter() * PROBE_MULTIPLIER * limit) {
            spread += WEYL;
            sinceProbe = 0;
            leastNs = sample.responseNs;
        } else if (sample.responseNs < leastNs) {
            leastNs = sample.responseNs;
        } else {
            double queued = Math.ceil(limit * (1 - Seconds.of(leastNs) / Seconds.of(sample.responseNs)));
            limit = Math.max(Math.min(next(queued, sample), rules.max), 1);
        }
    }

    private double next(double queued, Sample sample) {
        double digits = digits(limit);
        if (sample.kind == Kind.FAILED) {
            return limit - digits;
        } else if (sample.inFlight * 2.0 < limit) {
            return limit;
        } else if (queued <= digits) {
            return limit + 6 * digits;
        } else if (queued < 3 * digits) {
            return limit + digits;
        }
        return queued > 6 * digits ? limit - digits : limit;
    }

    /** From 0.5 up to 1. */
    private double jitter() {
        return 0.5 + 0.5 * (spread >>> 11) / (double) (1L << 53);
    }

    /** max(1, ⌊log10 limit⌋), without a logarithm, which other languages round otherwise. */
    private static double digits(double limit) {
        double digits = 0;
        for (double power = 10; power <= limit; power *= 10) {
            digits++;
        }
        return Math.max(1, digits);
    }
}
