package weir.regulator.pause;

/** How late threads are that have slept: the last 64, which stand for what any thread waits that is woken now. */
public final class Lateness {
    private static final int SIZE = 64;

    private final long[] lastNs = new long[SIZE];
    private int written;
    private int read;

    /** None seen. */
    public Lateness() {}

    /** A thread woke so many nanoseconds after it should have. */
    public synchronized void add(long lateNs) {
        lastNs[written % SIZE] = Math.max(0, lateNs);
        written = written + 1 == 2 * SIZE ? SIZE : written + 1;
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
