package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LastSevenTest {
    /** Stretches that differ by chance alone: 0.25^7, and four or more of seven of a twentieth; one in 3,900 and more together. */
    @Test
    void whatDiffersByChanceAloneIsHardlySlow() {
        LastSeven last = new LastSeven();
        SplittableRandom random = new SplittableRandom(11);
        int slow = 0;
        int stretches = 2_000_000;
        for (int stretch = 0; stretch < stretches; stretch++) {
            last.add(1 + random.nextDouble() * random.nextDouble(), Math.min(stretch + 1, 10_000));
            if (last.areSlow() && stretch >= 100) {
                slow++;
                last.begin(10_000);
            }
        }
        double share = slow / (double) stretches;
        assertTrue(share > 5e-5 && share < 4e-4, share + " of the stretches");
    }

    /** Four of seven, or seven of seven, and none fewer. */
    @Test
    void fourThatAreVerySlowAreEnoughAndSevenThatAreSlow() {
        LastSeven last = new LastSeven();
        for (int stretch = 1; stretch <= 1000; stretch++) {
            last.add(1 + stretch * 37 % 100 / 100.0, stretch);
        }
        last.begin(10_000);
        double[] alternating = {3, 1, 3, 1, 3, 1, 3};
        for (int index = 0; index < alternating.length; index++) {
            last.add(alternating[index], 10_000);
            assertEquals(index == 6, last.areSlow(), "after " + (index + 1));
        }
        last.begin(10_000);
        for (int count = 1; count <= 7; count++) {
            last.add(1.85, 10_000);
            assertEquals(count == 7, last.areSlow(), "after " + count);
        }
        last.add(1.5, 10_000);
        assertFalse(last.areSlow());
    }

    /** Beginnings that are compiled only later, a hundred times as slow, are no measure for what comes after. */
    @Test
    void slowBeginningsAreForgotten() {
        LastSeven last = new LastSeven();
        SplittableRandom random = new SplittableRandom(2);
        int stretch = 0;
        for (; stretch < 50; stretch++) {
            last.add(100, stretch + 1);
        }
        for (; stretch < 1000; stretch++) {
            last.add(1 + random.nextDouble() / 10, stretch + 1);
        }
        last.begin(10_000);
        for (int count = 1; count <= 4; count++) {
            last.add(2, stretch++);
        }
        assertTrue(last.areSlow());
    }
}
