package weir.regulator.limit;

/** One class of requests: its own caps, its line, and what it has counted. */
final class ServiceClass {
    /**
     * The cap on what promises leave over. It begins with one slot, so that those who were promised something do not pay for the
     * search, and never closes: who is let in hardly ever still learns that the application lives.
     */
    private static final Adaptive REST = new Adaptive(null, null, 0.25, null, 1.0);

    final String name;
    final Line line = new Line();
    final Standing standing = new Standing();
    final Counts counts = new Counts();
    final MeanResponse response = new MeanResponse();
    final Cap cap;
    /** Lower ones go first. */
    int priority;
    /** Null without a cap on the rate. */
    Gcra rate;
    /** Null without a promise. */
    Kept promise;
    /** Whether its cap is what the promises of others leave over. */
    boolean isRest;
    /** How long one of this class waits at most. */
    long maxWaitNs;
    int maxQueue;

    ServiceClass(ClassRules of, Rules rules, long now) {
        this.name = of.name;
        this.cap = new Cap(null, now);
        setRules(of, rules, now);
    }

    /** Other rules for those who come; those who wait go on waiting under them. */
    void setRules(ClassRules of, Rules rules, long now) {
        priority = of.priority;
        rate = Gcra.replaced(rate, of.rate, now);
        if (promise == null || !promise.promise().equals(of.promise)) {
            promise = of.promise == null ? null : new Kept(of.promise);
        }
        boolean othersPromise = rules.classes.stream().anyMatch(other -> other.promise != null);
        isRest = of.promise == null && of.concurrency == null && othersPromise;
        cap.setRules(isRest ? REST : of.concurrency, now);
        maxWaitNs = longestWait(of, rules);
        maxQueue = of.maxQueue == null ? Integer.MAX_VALUE : of.maxQueue;
    }

    /** The wait that is allowed: no longer than half of the time in which a request has to be answered. */
    private static long longestWait(ClassRules of, Rules rules) {
        long within = of.promise == null ? Long.MAX_VALUE : of.promise.withinNs();
        within = Math.min(within, Math.min(goal(of.concurrency), goal(rules.concurrency)));
        long wait = of.maxWaitNs == null ? rules.maxWaitNs : of.maxWaitNs;
        return within == Long.MAX_VALUE ? wait : Math.min(wait, within / 2);
    }

    private static long goal(Concurrency concurrency) {
        Long p99Ns = concurrency instanceof Adaptive ? ((Adaptive) concurrency).p99Ns : null;
        return p99Ns == null ? Long.MAX_VALUE : p99Ns;
    }

    /** Whether the class's own caps let one more through. */
    boolean isOpen(long now) {
        return isOnTime(now) && cap.hasRoom(now);
    }

    /** Whether the class's own rate lets one more through. */
    boolean isOnTime(long now) {
        return rate == null || rate.isOpen(now);
    }

    /** How long the oldest in the line may have waited. */
    long patienceNs() {
        return standing.patienceNs(maxWaitNs);
    }

    /** One of the class is over. */
    void finish(Sample sample, long now) {
        counts.finished++;
        cap.giveBack(now);
        if (sample.kind == Kind.COMPLETED) {
            response.add(sample.responseNs);
        }
        if (sample.kind != Kind.ABANDONED) {
            cap.learn(sample, now);
        }
    }

    void refuse(Why why) {
        counts.refused[why.ordinal()]++;
        if (promise != null) {
            promise.count(false);
        }
    }
}
