package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is taken for the requests' waits, beside what they really waited: a server that takes one at a time and stands still at times. */
class BacklogTest {
    private static final long MS = 1_000_000;
    private static final long SERVICE_NS = MS / 6;
    private static final double PER_S = 2500;
    private static final int REQUESTS = 100_000;

    private final SplittableRandom random = new SplittableRandom(3);
    private final Lateness lateness = new Lateness();
    private final Backlog backlog = new Backlog();
    /** Requests that waited for longer than the limit, and those that are taken to. */
    private int waited;
    private int taken;

    /** Stands still for so long once in about a second. */
    private void play(long stallNs, long limitNs) {
        TreeMap<Long, Long> stalls = new TreeMap<>();
        long arrival = 0;
        long free = 0;
        long probe = 0;
        for (long at = 0; at < REQUESTS / PER_S * 1e9; at += random.nextLong(500 * MS, 1500 * MS)) {
            stalls.put(at, at + stallNs);
        }
        for (int request = 0; request < REQUESTS; request++) {
            arrival += (long) (-Math.log(1 - random.nextDouble()) * 1e9 / PER_S);
            long began = running(stalls, Math.max(arrival, free));
            free = began + SERVICE_NS;
            // Whoever measures need not wait behind requests.
            while (running(stalls, probe) <= began) {
                lateness.add(probe, running(stalls, probe) - probe);
                probe += random.nextLong(5 * MS / 2, 15 * MS / 2);
            }
            waited += began - arrival > limitNs ? 1 : 0;
            taken += backlog.waitedNs(began, lateness) > limitNs ? 1 : 0;
        }
    }

    /** The first moment from this one on at which it does not stand still. */
    private static long running(TreeMap<Long, Long> stalls, long moment) {
        var stall = stalls.floorEntry(moment);
        return stall == null ? moment : Math.max(moment, stall.getValue());
    }

    @Test
    void thoseWhoWaitBehindOthersCount() {
        play(12 * MS, 5 * MS);
        assertTrue(waited > REQUESTS / 100, waited + " waited");
        assertEquals(waited, taken, 0.15 * waited);
    }

    @Test
    void shortTimesCountToo() {
        play(6 * MS, 3 * MS);
        assertEquals(waited, taken, 0.25 * waited);
    }

    @Test
    void thatNobodyComesForAWhileIsNoWait() {
        play(0, MS);
        assertEquals(0, taken, "taken for late where " + waited + " were");
    }
}
