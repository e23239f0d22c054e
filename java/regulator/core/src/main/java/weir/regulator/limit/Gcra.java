package weir.regulator.limit;

/**
 * An exact cap on the rate of admitted requests.
 *
 * <p>The generic cell rate algorithm (ITU-T I.371, virtual scheduling form, tolerance 0), of which the state is one moment:
 * when the next slot opens. Slots are one interval T = 1/rate apart. Only admitted requests take one, so that those who are
 * refused cost nobody anything.
 *
 * <p>Somebody who waited for a slot takes it as if in time as long as it is at most T late, so that a backlog is served at
 * exactly the rate though timers fire late. A slot that opened while nobody waited is not kept. Hence at most N + 1 requests
 * within any second at N per second.
 */
final class Gcra {
    private final long intervalNs;
    private long due;

    /** A cap of which the first slot is open. */
    Gcra(Rate rate, long now) {
        this.intervalNs = rate.intervalNs();
        this.due = now;
    }

    /** The cap for another rate, from the next slot on; null without a rate. */
    static Gcra replaced(Gcra current, Rate rate, long now) {
        if (rate == null) {
            return null;
        }
        Gcra next = new Gcra(rate, now);
        if (current != null) {
            next.due = Math.min(current.due, Seconds.later(now, next.intervalNs));
        }
        return next;
    }

    boolean isOpen(long now) {
        return due <= now;
    }

    /** When the next slot opens. */
    long due() {
        return due;
    }

    /** How long it takes until the slot opens that is left by {@code ahead} others. */
    long waitBehind(int ahead, long now) {
        return Seconds.later(Seconds.since(now, due), Seconds.times(intervalNs, ahead));
    }

    /** Takes the slot that is open, for a request that came at {@code arrived}. */
    void take(long arrived, long now) {
        long slot = Math.max(Math.max(due, arrived), Math.max(0, now - intervalNs));
        due = Seconds.later(slot, intervalNs);
    }
}
