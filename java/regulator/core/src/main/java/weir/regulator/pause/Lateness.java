package weir.regulator.pause;

/** What requests wait before anything of theirs runs: the last 64 that were measured, about a third of a second's. */
public final class Lateness {
    private static final int SIZE = 64;

    private final long[] lastNs = new long[SIZE];
    private int written;
    private int read;

    /** None seen. */
    public Lateness() {}

    /** One would have waited for so many nanoseconds. */
    public synchronized void add(long lateNs) {
        lastNs[written % SIZE] = Math.max(0, lateNs);
        written = written + 1 == 2 * SIZE ? SIZE : written + 1;
    }

    /** The longest of the last; 0 as long as none was seen. */
    public synchronized long mostNs() {
        long most = 0;
        for (int at = 0; at < Math.min(written, SIZE); at++) {
            most = Math.max(most, lastNs[at]);
        }
        return most;
    }

    /** As if none had been measured. */
    public synchronized void forget() {
        written = 0;
    }

    /** One of the last, in turn; 0 as long as none was seen. */
    public synchronized long next() {
        int known = Math.min(written, SIZE);
        if (known == 0) {
            return 0;
        }
        read = (read + 1) % known;
        return lastNs[read];
    }
}
