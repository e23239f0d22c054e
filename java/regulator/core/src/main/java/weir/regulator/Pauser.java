package weir.regulator;

import java.util.function.LongUnaryOperator;
import weir.regulator.pause.Pace;

/** Lets the calling thread stand still. */
final class Pauser {
    private final Time time;

    Pauser(Time time) {
        this.time = time;
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
            time.park(Pace.partNs(leftNs));
            now = time.now();
            if (Thread.currentThread().isInterrupted()) {
                break;
            }
        }
        return now - began;
    }
}
