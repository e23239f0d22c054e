package weir.regulator.limit;

/** What is to be held of one class of requests. */
public final class ClassRules {
    /** Its name; on a change of the rules, a class with the same name is the same class. */
    public final String name;
    /** Most requests of this class admitted per second; null: as many as there are. */
    public final Rate rate;
    /**
     * Most requests of this class in flight, in absolute slots; null: no cap, but what the promise leaves over in a class
     * without a promise beside one with a promise.
     */
    public final Concurrency concurrency;
    /** What its clients may rely on, or null. Those with a promise go first, and those without get what is left. */
    public final Promise promise;
    /** How long a request of this class waits, in nanoseconds; null: as all. */
    public final Long maxWaitNs;
    /** How many requests of this class wait; null: as many as there is room for. */
    public final Integer maxQueue;
    /** Whether its requests go before those of other classes, as those of a class with a promise do. */
    public final boolean first;

    /** Rules of a class that goes first if it has a promise. */
    public ClassRules(
            String name, Rate rate, Concurrency concurrency, Promise promise, Long maxWaitNs, Integer maxQueue) {
        this(name, rate, concurrency, promise, maxWaitNs, maxQueue, promise != null);
    }

    /** Rules of a class. */
    public ClassRules(
            String name,
            Rate rate,
            Concurrency concurrency,
            Promise promise,
            Long maxWaitNs,
            Integer maxQueue,
            boolean first) {
        this.name = name;
        this.rate = rate;
        this.concurrency = concurrency;
        this.promise = promise;
        this.maxWaitNs = maxWaitNs;
        this.maxQueue = maxQueue;
        this.first = first;
    }

    /** A class of this name without rules. */
    static ClassRules none(String name) {
        return new ClassRules(name, null, null, null, null, null);
    }
}
