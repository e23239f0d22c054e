package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RoundRobinTest {
    private static final long MS = 1_000_000;

    private final RoundRobin robin = new RoundRobin();

    private Turn standing(double moment) {
        Turn turn = new Turn();
        robin.stands(turn, MS, moment);
        return turn;
    }

    @Test
    void theEarliestMomentBelongsToWhoeverCameFirst() {
        Turn first = standing(1);
        Turn second = standing(2);
        robin.goesOn(first);
        robin.stands(first, MS, 3);
        assertEquals(0, robin.before(first));
        assertEquals(1, robin.before(second));
        assertEquals(2, robin.moment(0));
        assertEquals(3, robin.moment(1));
    }

    @Test
    void whoeverLeavesTakesTheEarliestMoment() {
        Turn first = standing(1);
        Turn second = standing(2);
        Turn third = standing(3);
        robin.goesOn(second);
        assertEquals(0, robin.before(first));
        assertEquals(1, robin.before(third));
        assertEquals(2, robin.moment(robin.before(first)));
        robin.goesOn(second);
        assertEquals(3, robin.moment(robin.before(third)));
    }

    @Test
    void afterItsQuantumItStandsBehindTheOthers() {
        Turn first = standing(1);
        Turn second = standing(2);
        robin.goesOn(first);
        robin.stands(first, RoundRobin.QUANTUM_NS, 3);
        assertEquals(0, robin.before(second));
        assertEquals(1, robin.before(first));
        robin.goesOn(first);
        robin.stands(first, MS, 4);
        assertTrue(robin.before(second) < robin.before(first), "a new quantum has begun");
    }

    @Test
    void nobodyStandsTwice() {
        Turn turn = standing(1);
        robin.stands(turn, MS, 2);
        robin.goesOn(turn);
        Turn next = standing(5);
        assertEquals(0, robin.before(next));
        assertEquals(5, robin.moment(0));
    }
}
