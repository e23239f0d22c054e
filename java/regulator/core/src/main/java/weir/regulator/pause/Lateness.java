package weir.regulator.pause;

/** What requests wait before anything of theirs runs: the last 64 that were measured, about a third of a second's. */
public final class Lateness {
    private static final int SIZE = 64;
    /** Threads that wait for the same thing do not run at the same moment when it is over. */
    private static final long APART_NS = 1_000_000L;

    private final long[] dueNs = new long[SIZE];
    private final long[] lastNs = new long[SIZE];
    private int written;
    private int read;

    /** None seen. */
    public Lateness() {}

    /** One that came at this moment would have waited for so many nanoseconds. */
    public synchronized void add(long due, long lateNs) {
        dueNs[written % SIZE] = due;
        lastNs[written % SIZE] = Math.max(0, lateNs);
        written = written + 1 == 2 * SIZE ? SIZE : written + 1;
    }

    /** The longest of the last; 0 as long as none was seen. */
    public synchronized long mostNs() {
        long most = 0;
        for (int at = 0; at < known(); at++) {
            most = Math.max(most, lastNs[at]);
        }
        return most;
    }

    /** As if none had been measured. */
    public synchronized void forget() {
        written = 0;
    }

    /** One of the last, in turn; 0 as long as none was seen, and if it came before this moment. */
    synchronized long next(long notBefore) {
        int known = known();
        if (known == 0) {
            return 0;
        }
        read = (read + 1) % known;
        return dueNs[read] < notBefore ? 0 : lastNs[read];
    }

    /** Whether one that came between these moments had to wait until the second. */
    synchronized boolean isOneBetween(long from, long until) {
        for (int at = 0; at < known(); at++) {
            long due = dueNs[at];
            boolean isBetween = due >= from - APART_NS && due <= until;
            if (isBetween && lastNs[at] >= APART_NS && due + lastNs[at] >= until - APART_NS) {
                return true;
            }
        }
        return false;
    }

    private int known() {
        return Math.min(written, SIZE);
    }
}
