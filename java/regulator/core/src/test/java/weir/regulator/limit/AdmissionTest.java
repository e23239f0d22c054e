package weir.regulator.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the vectors do not hold: rules that change, permits that are given back. */
class AdmissionTest {
    private static final long MS = 1_000_000;

    @Test
    void aPermitIsGivenBackOnce() {
        Admission admission = new Admission(rules(new Fixed(2)), 0);
        Permit permit = admission.arrive(0, 0);
        admission.finish(permit, MS, Kind.COMPLETED, MS);
        assertThrows(IllegalStateException.class, () -> admission.finish(permit, MS, Kind.COMPLETED, MS));
        assertEquals(0, admission.inFlight());
    }

    @Test
    void whatIsInFlightStaysWhenTheRulesChange() {
        Admission admission = new Admission(rules(new Fixed(2)), 0);
        Permit first = admission.arrive(0, 0);
        admission.arrive(0, 0);
        Permit waits = admission.arrive(0, MS);
        assertEquals(Permit.State.WAITING, waits.state());
        admission.setRules(rules(new Fixed(3)), 2 * MS);
        assertEquals(waits, admission.poll(2 * MS));
        assertEquals(Permit.State.GRANTED, waits.state());
        admission.setRules(rules(new Fixed(1)), 3 * MS);
        admission.finish(first, 3 * MS, Kind.COMPLETED, 3 * MS);
        assertEquals(2, admission.inFlight());
        assertEquals(Permit.State.WAITING, admission.arrive(0, 4 * MS).state());
    }

    @Test
    void classesOfALowerPriorityWait() {
        ClassRules batch = new ClassRules("batch", null, null, null, null, null, 2);
        ClassRules heavy = new ClassRules("heavy", null, null, null, null, null, 1);
        ClassRules light = new ClassRules("light", null, null, null, null, null, 0);
        Admission admission = new Admission(new Rules(null, new Fixed(1), 200 * MS, 10, List.of(batch, heavy, light)), 0);
        Permit runs = admission.arrive(0, 0);
        Permit[] wait = {admission.arrive(0, MS), admission.arrive(1, 2 * MS), admission.arrive(2, 3 * MS)};
        for (int next = 2; next >= 0; next--) {
            admission.finish(runs, 4 * MS, Kind.COMPLETED, 4 * MS);
            for (int of = 0; of <= 2; of++) {
                boolean waits = of < next;
                assertEquals(waits, wait[of].state() == Permit.State.WAITING, of + " after " + next);
            }
            runs = wait[next];
        }
    }

    @Test
    void rulesThatCannotBeHeldAreRefused() {
        ClassRules twice = ClassRules.none("a");
        assertThrows(IllegalArgumentException.class, () -> new Rules(null, null, 0, 0, List.of(twice, twice)));
        assertThrows(IllegalArgumentException.class, () -> Rate.perSecond(0));
        assertThrows(IllegalArgumentException.class, () -> new Fixed(-1));
        assertThrows(IllegalArgumentException.class, () -> new Adaptive(null, null, 5.0, 4.0, null));
        assertFalse(new Fixed(1).equals(new Fixed(2)));
    }

    private static Rules rules(Concurrency concurrency) {
        return new Rules(null, concurrency, 200 * MS, 10, List.of());
    }
}
