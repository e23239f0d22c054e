package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LastSevenTest {
    private final UsualTimes usual = new UsualTimes();
    private final LastSeven last = new LastSeven();

    /** Stretches that differ by chance alone: 0.25^7, and at least four of seven of a twentieth, which together is once in 3,900. */
    @Test
    void whatDiffersByChanceAloneIsHardlySlow() {
        SplittableRandom random = new SplittableRandom(11);
        int slow = 0;
        int stretches = 4_000_000;
        for (int stretch = 0; stretch < stretches; stretch++) {
            last.add(1 + random.nextDouble() * random.nextDouble(), usual, Math.min(stretch + 1, 10_000));
            if (last.areSlow() && stretch >= 100) {
                slow++;
                last.begin(usual, 10_000);
            }
        }
        double share = slow / (double) stretches;
        assertTrue(share > 1.5e-4 && share < 3.5e-4, share + " of the stretches");
    }

    /** Four of seven, or seven of seven, and none fewer. */
    @Test
    void fourThatAreVerySlowAreEnoughAndSevenThatAreSlow() {
        for (int stretch = 1; stretch <= 1000; stretch++) {
            last.add(1 + stretch * 37 % 100 / 100.0, usual, stretch);
        }
        last.begin(usual, 10_000);
        double[] alternating = {3, 1, 3, 1, 3, 1, 3};
        for (int index = 0; index < alternating.length; index++) {
            last.add(alternating[index], usual, 10_000);
            assertEquals(index == 6, last.areSlow(), "after " + (index + 1));
        }
        last.begin(usual, 10_000);
        for (int count = 1; count <= 7; count++) {
            last.add(1.85, usual, 10_000);
            assertEquals(count == 7, last.areSlow(), "after " + count);
        }
        last.add(1.5, usual, 10_000);
        assertFalse(last.areSlow());
    }

    /** What is slow is measured by what was before, and not by itself, where little has been remembered so far. */
    @Test
    void theLastSevenThemselvesAreNotUsualYet() {
        for (int stretch = 1; stretch <= 100; stretch++) {
            last.add(1 + stretch * 37 % 100 / 100.0, usual, stretch);
        }
        for (int count = 0; count < 7; count++) {
            last.add(9, usual, 200);
        }
        assertTrue(usual.nearlyAllS() < 2, usual.nearlyAllS() + " s");
        last.begin(usual, 200);
        assertEquals(9, usual.nearlyAllS());
    }

    /** Four threads are stopped once: one slow stretch of each piece of work, which says nothing of any. */
    @Test
    void eachPieceOfWorkHasItsOwn() {
        LastSeven[] works = {new LastSeven(), new LastSeven(), new LastSeven(), new LastSeven()};
        for (int stretch = 1; stretch <= 2000; stretch++) {
            double took = stretch % 50 == 0 ? 2 : 1 + stretch * 37 % 100 / 1000.0;
            for (LastSeven work : works) {
                work.add(took, usual, stretch);
                assertFalse(stretch > 100 && work.areSlow(), "stretch " + stretch);
            }
        }
    }

    /** Contention that lasts becomes usual, as fast as is said. */
    @ParameterizedTest
    @ValueSource(ints = {10_000, 40_000})
    void whatLastsBecomesUsual(int remembered) {
        for (int stretch = 1; stretch <= 10_000; stretch++) {
            last.add(1 + stretch * 37 % 100 / 100.0, usual, stretch);
        }
        int stretches = 0;
        do {
            last.add(stretches % 2 == 0 ? 3 : 1, usual, 10_000);
            stretches++;
            if (last.areSlow()) {
                last.begin(usual, remembered);
                // The next one is slow again: seven are counted from a slow one on.
                stretches++;
            }
        } while (usual.nearlyAllS() < 3 && stretches < 100_000);
        assertTrue(stretches > remembered / 15 && stretches < remembered / 5, stretches + " stretches");
    }

    /** Beginnings that are compiled only later, a hundred times as slow, are no measure for what comes after. */
    @Test
    void slowBeginningsAreForgotten() {
        SplittableRandom random = new SplittableRandom(2);
        int stretch = 0;
        for (; stretch < 200; stretch++) {
            last.add(100, usual, stretch + 1);
        }
        for (; stretch < 1500; stretch++) {
            last.add(1 + random.nextDouble() / 10, usual, stretch + 1);
        }
        last.begin(usual, 10_000);
        for (int count = 1; count <= 4; count++) {
            last.add(2, usual, stretch++);
        }
        assertTrue(last.areSlow());
    }

    /** Against a sample that is sorted anew each time, with many equal ones. */
    @Test
    void theSampleIsTheLastOnes() {
        SplittableRandom random = new SplittableRandom(4);
        Deque<Double> sample = new ArrayDeque<>();
        for (int stretch = 0; stretch < 2000; stretch++) {
            double took = random.nextInt(1 + stretch / 10);
            usual.add(took, 1);
            sample.addLast(took);
            if (sample.size() > 256) {
                sample.removeFirst();
            }
            double[] sorted = sample.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            assertEquals(sorted[(int) (0.75 * sorted.length)], usual.mostS(), "stretch " + stretch);
            assertEquals(sorted[(int) (0.95 * sorted.length)], usual.nearlyAllS(), "stretch " + stretch);
        }
    }
}
