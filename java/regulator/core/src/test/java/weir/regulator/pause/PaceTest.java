package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.PriorityQueue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long MS = 1_000_000;

    /** Threads that each run for 2 ms whenever they may, on as many CPUs as there are threads. */
    @ParameterizedTest
    @CsvSource({"1, 0.5", "1, 0.1", "20, 0.05", "20, 0.5", "20, 1", "20, 3.5", "40, 8"})
    void soManyRunAtATimeOnAverage(int threads, double share) {
        Pace pace = new Pace(threads);
        pace.setShare(share, 0);
        PriorityQueue<Long> ends = new PriorityQueue<>();
        for (int thread = 0; thread < threads; thread++) {
            ends.add(2 * MS);
        }
        double ranNs = 0;
        long end = 60_000 * MS;
        for (long now = ends.poll(); now < end; now = ends.poll()) {
            ranNs += 2 * MS;
            ends.add(now + pace.leftNs(pace.ran(2 * MS, now), now) + 2 * MS);
        }
        assertEquals(share, ranNs / end, 0.02 * share + 0.01);
    }

    @Test
    void fewerThanMayRunNeverPause() {
        Pace pace = new Pace(1);
        pace.setShare(1.0, 0);
        for (long now = 2 * MS; now < 1000 * MS; now += 2 * MS) {
            assertEquals(0, pace.leftNs(pace.ran(2 * MS, now), now));
        }
    }

    /** Whoever stands still goes on five times as soon at five times the share. */
    @Test
    void anotherShareHoldsForThoseWhoStandStill() {
        Pace pace = new Pace(1);
        pace.setShare(0.1, 0);
        pace.ran(2 * MS, 4 * MS);
        double turn = pace.ran(2 * MS, 4 * MS);
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
        double turn = 0;
        for (int thread = 0; thread < 20; thread++) {
            turn = pace.ran(100 * MS, 100 * MS);
        }
        assertTrue(pace.leftNs(turn, 100 * MS) <= 200 * MS, pace.leftNs(turn, 100 * MS) / MS + " ms");
    }

    @Test
    void nobodyGoesOnWhileAllAreHeld() {
        Pace pace = new Pace(1);
        pace.hold(10 * MS);
        assertEquals(7 * MS, pace.leftNs(pace.ran(MS, 3 * MS), 3 * MS));
        assertEquals(0, pace.leftNs(pace.ran(MS, 11 * MS), 11 * MS));
    }

    @Test
    void theShareInUseIsThatOfTheLastQuarterOfASecond() {
        Pace pace = new Pace(1);
        for (long now = 0; now < 2000 * MS; now += 4 * MS) {
            pace.ran(2 * MS, now);
        }
        assertEquals(0.5, pace.used(2000 * MS), 0.02);
        assertTrue(pace.used(4000 * MS) < 0.001);
    }
}
