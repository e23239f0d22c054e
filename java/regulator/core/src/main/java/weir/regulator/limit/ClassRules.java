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
    /** What its clients may rely on, or null. Those without get what is left. */
    public final Promise promise;
    /** How long a request of this class waits, in nanoseconds; null: as all. */
    public final Long maxWaitNs;
    /** How many requests of this class wait; null: as many as there is room for. */
    public final Integer maxQueue;
    /** Of requests that wait, those of a class with a lower number go first. */
    public final int priority;

    /** Rules of a class with the usual priority: those with a promise go first. */
    public ClassRules(
            String name, Rate rate, Concurrency concurrency, Promise promise, Long maxWaitNs, Integer maxQueue) {
        this(name, rate, concurrency, promise, maxWaitNs, maxQueue, usualPriority(promise != null));
    }

    /** Rules of a class. */
    public ClassRules(
            String name,
            Rate rate,
            Concurrency concurrency,
            Promise promise,
            Long maxWaitNs,
            Integer maxQueue,
            int priority) {
        this.name = name;
        this.rate = rate;
        this.concurrency = concurrency;
        this.promise = promise;
        this.maxWaitNs = maxWaitNs;
        this.maxQueue = maxQueue;
        this.priority = priority;
    }

    /** The priority of a class for which none is set. */
    public static int usualPriority(boolean isPromised) {
        return isPromised ? 0 : 1;
    }

    /** A class of this name without rules. */
    static ClassRules none(String name) {
        return new ClassRules(name, null, null, null, null, null);
    }
}
