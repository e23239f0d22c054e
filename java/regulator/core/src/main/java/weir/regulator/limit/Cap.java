package weir.regulator.limit;

import java.util.Objects;

/** A cap on requests in flight: an algorithm that says how many, and the slots that it gives out. */
final class Cap {
    /** For so long after it has sent somebody away a cap counts as pressed: where nobody may wait, that is how it is known. */
    private static final long TURNED_AWAY_NS = 100_000_000L;

    private Concurrency rules;
    private Limit algorithm;
    private final Slots slots;
    /** When somebody was sent away because of it; {@link Admission#NEVER}: nobody was. */
    private long turnedAway = Admission.NEVER;

    /** As the rules say; null is no limit. */
    Cap(Concurrency rules, long now) {
        this.rules = rules;
        this.algorithm = start(rules, now);
        this.slots = new Slots(algorithm.limit(), now);
    }

    private static Limit start(Concurrency rules, long now) {
        return (rules == null ? Fixed.UNLIMITED : rules).start(now);
    }

    /** Other rules; what is in flight stays, and an algorithm whose rules are the same goes on from where it is. */
    void setRules(Concurrency rules, long now) {
        if (!Objects.equals(this.rules, rules)) {
            this.algorithm = start(rules, now);
            this.rules = rules;
            refresh(now);
        }
    }

    double limit() {
        return slots.limit();
    }

    int inFlight() {
        return slots.inFlight();
    }

    boolean hasRoom(long now) {
        return slots.hasRoom(now);
    }

    /** When room comes by itself, without a request that ends; {@link Admission#NEVER} if not. */
    long opens(long now) {
        return slots.opens(now);
    }

    void take(long now) {
        slots.take(now);
    }

    void giveBack(long now) {
        slots.giveBack(now);
    }

    /** A request of this cap is over. */
    void learn(Sample sample, long now) {
        algorithm.finished(sample, now);
        refresh(now);
    }

    /** A request of a class with a promise was in time or not, which this share of them is to be. */
    void promised(boolean inTime, double share, long now) {
        algorithm.promised(inTime, share);
        refresh(now);
    }

    /** Whether the limit cannot be lower. */
    boolean isLeast() {
        return algorithm.isLeast();
    }

    void readCpu(double busy, long now) {
        algorithm.readCpu(busy, now);
        refresh(now);
    }

    /** Somebody is sent away who could have gone on but for this cap. */
    void turnAway(long now) {
        turnedAway = now;
    }

    /** Says how things stand from now on. */
    void note(boolean pressed, long now) {
        boolean recently = turnedAway != Admission.NEVER && Seconds.since(turnedAway, now) < TURNED_AWAY_NS;
        algorithm.stands(slots.inFlight(), pressed || recently, now);
        refresh(now);
    }

    private void refresh(long now) {
        slots.setLimit(algorithm.limit(), now);
    }
}
