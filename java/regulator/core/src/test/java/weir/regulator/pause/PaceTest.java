package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long MS = 1_000_000;

    /** A thread that runs for 2 ms whenever it may, on a CPU of its own. */
    private static final class Thread2Ms {
        final Turn turn = new Turn();
        boolean stands;
        long next = 2 * MS;
    }

    @ParameterizedTest
    @CsvSource({"1, 0.5", "1, 0.1", "20, 0.05", "20, 0.5", "20, 1", "20, 3.5", "40, 8"})
    void soManyRunAtATimeOnAverage(int threads, double share) {
        Pace pace = new Pace(threads);
        pace.setShare(share, 0);
        PriorityQueue<Thread2Ms> order = new PriorityQueue<>(Comparator.comparingLong((Thread2Ms thread) -> thread.next));
        for (int thread = 0; thread < threads; thread++) {
            order.add(new Thread2Ms());
        }
        double ranNs = 0;
        long end = 60_000 * MS;
        while (order.peek().next < end) {
            Thread2Ms thread = order.poll();
            long now = thread.next;
            if (!thread.stands) {
                ranNs += 2 * MS;
                pace.ran(thread.turn, 2 * MS, now);
            }
            long left = pace.leftNs(thread.turn, now);
            thread.stands = left > 0;
            if (!thread.stands) {
                pace.goesOn(thread.turn, now);
            }
            thread.next = now + (thread.stands ? Pace.partNs(left) : 2 * MS);
            order.add(thread);
        }
        assertEquals(share, ranNs / end, 0.02 * share + 0.01);
    }

    /** It goes on at once, if it may. */
    private static long ranAlone(Pace pace, Turn turn, long ranNs, long now) {
        pace.ran(turn, ranNs, now);
        long left = pace.leftNs(turn, now);
        pace.goesOn(turn, now);
        return left;
    }

    @Test
    void fewerThanMayRunNeverPause() {
        Pace pace = new Pace(1);
        pace.setShare(1.0, 0);
        Turn turn = new Turn();
        for (long now = 2 * MS; now < 1000 * MS; now += 2 * MS) {
            assertEquals(0, ranAlone(pace, turn, 2 * MS, now));
        }
    }

    /** Whoever stands still goes on five times as soon at five times the share. */
    @Test
    void anotherShareHoldsForThoseWhoStandStill() {
        Pace pace = new Pace(1);
        pace.setShare(0.1, 0);
        Turn turn = new Turn();
        ranAlone(pace, turn, 2 * MS, 4 * MS);
        pace.ran(turn, 2 * MS, 4 * MS);
        long left = pace.leftNs(turn, 4 * MS);
        pace.setShare(0.5, 4 * MS + left / 2);
        assertEquals(left / 10, pace.leftNs(turn, 4 * MS + left / 2), 2);
        pace.setShare(Double.POSITIVE_INFINITY, 4 * MS + left / 2);
        assertEquals(0, pace.leftNs(turn, 4 * MS + left / 2));
    }

    /** Twenty threads have shared one CPU for 100 ms when a limit begins: 100 ms have run, and not 2 s. */
    @Test
    void noMoreHasRunThanTheCpusCan() {
        Pace pace = new Pace(1);
        pace.setShare(0.5, 0);
        long left = 0;
        for (int thread = 0; thread < 20; thread++) {
            left = ranAlone(pace, new Turn(), 100 * MS, 100 * MS);
        }
        assertTrue(left <= 200 * MS, left / MS + " ms");
    }

    /** Whoever came first goes on, also when he has run in between; those behind him look again, but later. */
    @Test
    void theFirstOneGoesOnUntilHisQuantumIsOver() {
        Pace pace = new Pace(1);
        pace.setShare(0.5, 0);
        Turn first = new Turn();
        Turn second = new Turn();
        long now = 10 * MS;
        pace.ran(first, MS, now);
        pace.ran(second, MS, now);
        int turns = 0;
        while (pace.leftNs(first, now) < pace.leftNs(second, now)) {
            now += pace.leftNs(first, now);
            pace.goesOn(first, now);
            now += MS;
            pace.ran(first, MS, now);
            turns++;
        }
        assertEquals(RoundRobin.QUANTUM_NS / MS, turns + 1);
    }

    /** The first one waits for a CPU, for longer than its stretch and the pause after it take: the second one's moment has come. */
    @Test
    void nobodyTakesThePlaceOfOneThatWaitsForACpu() {
        Pace pace = new Pace(1);
        pace.setShare(0.5, 0);
        Turn first = new Turn();
        Turn second = new Turn();
        pace.ran(first, MS, 2 * MS);
        pace.ran(second, MS, 2 * MS);
        long now = 2 * MS + pace.leftNs(first, 2 * MS);
        assertEquals(0, pace.leftNs(first, now));
        assertTrue(pace.leftNs(second, now + 40 * MS) > 0, "it may go on, and runs from that moment on");
        assertEquals(0, pace.leftNs(first, now), "it is asked once more");
        pace.goesOn(first, now);
        assertTrue(pace.leftNs(second, now + 40 * MS) > 0);
        pace.leaves(first);
        assertEquals(0, pace.leftNs(second, now + 40 * MS));
    }

    @Test
    void whoStaysAwayForLongHoldsNobodyUp() {
        Pace pace = new Pace(1);
        pace.setShare(0.5, 0);
        Turn second = new Turn();
        pace.goesOn(new Turn(), 0);
        pace.ran(second, MS, 2 * MS);
        assertTrue(pace.leftNs(second, Running.AWAY_NS - 1) > 0);
        assertEquals(0, pace.leftNs(second, Running.AWAY_NS));
    }

    @Test
    void nobodyGoesOnWhileAllAreHeld() {
        Pace pace = new Pace(1);
        pace.hold(10 * MS);
        assertEquals(7 * MS, ranAlone(pace, new Turn(), MS, 3 * MS));
        assertEquals(0, ranAlone(pace, new Turn(), MS, 11 * MS));
    }

    @Test
    void theShareInUseIsThatOfTheLastQuarterOfASecond() {
        Pace pace = new Pace(1);
        Turn turn = new Turn();
        for (long now = 0; now < 2000 * MS; now += 4 * MS) {
            ranAlone(pace, turn, 2 * MS, now);
        }
        assertEquals(0.5, pace.used(2000 * MS), 0.02);
        assertTrue(pace.used(4000 * MS) < 0.001);
    }
}
