package weir.regulator;

import java.util.function.LongUnaryOperator;
import weir.regulator.pause.Lateness;
import weir.regulator.pause.Pace;

/** Lets the calling thread stand still. */
final class Pauser {
    private final Time time;
    private final Lateness lateness;

    Pauser(Time time, Lateness lateness) {
        this.time = time;
        this.lateness = lateness;
    }

    /**
     * Pauses until nothing is left, or the thread is told to stop.
     *
     * @param left of a moment, how many nanoseconds are left
     * @return how long it was
     */
    long pause(LongUnaryOperator left) {
        long began = time.now();
        long now = began;
        for (long leftNs = left.applyAsLong(now); leftNs > 0; leftNs = left.applyAsLong(now)) {
            long part = Pace.partNs(leftNs);
            time.park(part);
            long woke = time.now();
            if (Thread.currentThread().isInterrupted()) {
                return woke - began;
            }
            if (woke - now >= part) {
                lateness.add(woke - now - part);
            }
            now = woke;
        }
        return now - began;
    }
}
