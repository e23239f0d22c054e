package weir.regulator;

import java.util.concurrent.locks.LockSupport;

/** What tells the time and lets a thread stand still, so that tests can be both. */
public interface Time {
    /** The machine's time, from about 0 on at the moment of this call. */
    static Time ofMachine() {
        long origin = System.nanoTime();
        return new Time() {
            @Override
            public long now() {
                return System.nanoTime() - origin;
            }

            @Override
            public void park(long nanos) {
                LockSupport.parkNanos(nanos);
            }

            @Override
            public boolean isOfMachine() {
                return true;
            }
        };
    }

    /** Nanoseconds since an origin; never negative. */
    long now();

    /** Lets the calling thread stand still for so many nanoseconds, or less if it is woken. */
    void park(long nanos);

    /** Whether threads that stand still by it sleep in the machine's time, so that it says something how late they wake. */
    default boolean isOfMachine() {
        return false;
    }
}
