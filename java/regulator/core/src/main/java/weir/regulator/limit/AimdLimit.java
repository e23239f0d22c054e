package weir.regulator.limit;

/**
 * Additive increase, multiplicative decrease.
 *
 * <p>Each response under the time-out that was sent while at least half of the limit was in use adds 1; each one that failed or
 * took longer multiplies by the back-off ratio (Chiu and Jain 1989 show why the two converge to a fair share; the rule for half
 * of the limit and the defaults are those of Netflix' concurrency-limits).
 *
 * <p>It only learns from responses that are too slow already, and a time-out of seconds says nothing about an application that
 * answers in milliseconds.
 */
final class AimdLimit extends Limit {
    private final Aimd rules;
    private double limit;

    AimdLimit(Aimd rules) {
        this.rules = rules;
        this.limit = rules.start;
    }

    @Override
    double limit() {
        return limit;
    }

    @Override
    void finished(Sample sample, long now) {
        if (sample.kind == Kind.FAILED || sample.responseNs > rules.timeoutNs) {
            limit = Math.floor(limit * rules.backOff);
        } else if (sample.inFlight * 2.0 >= limit) {
            limit += 1;
        }
        limit = Math.max(Math.min(limit, rules.max), rules.min);
    }
}
