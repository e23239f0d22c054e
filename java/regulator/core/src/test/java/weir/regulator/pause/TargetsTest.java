package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import weir.regulator.limit.Promise;

/** Targets of settings that change. */
class TargetsTest {
    private static final long MS = 1_000_000;

    private final Pace pace = new Pace(1);

    private Target response() {
        return new ResponseTarget(new Promise(0.99, 10 * MS), pace, new Lateness(), 1);
    }

    @Test
    void whatIsKeptGoesOnWithThoseThatFollow() {
        Target kept = response();
        Targets before = new Targets(Arrays.asList(kept, null), pace);
        before.began(0, 0);
        before.passed(MS);
        assertTrue(before.isLatenessWanted(MS));
        assertEquals(0.1, pace.share(), 1e-9);
        Targets after = before.follow(Arrays.asList(null, kept), true, 2 * MS);
        assertEquals(0.1, pace.share(), 1e-9);
        after.passed(5000 * MS);
        assertEquals(0.1, pace.share(), 1e-9, "the request has not ended");
        before.answered(0, 5000 * MS, true, 5000 * MS);
        assertEquals(0, after.measured(1), "it was late");
        after.passed(7000 * MS);
        assertEquals(Double.POSITIVE_INFINITY, pace.share(), "nobody is there any more");
    }

    /** Its own answers are all in time: what others stand still for is another promise. */
    @Test
    void aStricterPromiseBesideItDoesNotMakeItsShareGrowForEver() {
        ResponseTarget loose = new ResponseTarget(new Promise(0.99, 500 * MS), pace, new Lateness(), 1);
        ResponseTarget strict = new ResponseTarget(new Promise(0.99, 10 * MS), pace, new Lateness(), 1);
        Targets targets = new Targets(Arrays.asList(loose, strict), pace);
        Turn heavy = new Turn();
        boolean runs = false;
        for (long now = 0; now < 120_000 * MS; now += MS) {
            if (runs) {
                pace.ran(heavy, MS, now);
                runs = false;
            }
            if (pace.leftNs(heavy, now) == 0) {
                pace.goesOn(heavy, now);
                runs = true;
            }
            targets.began(0, now);
            targets.answered(0, MS, true, now);
            targets.began(1, now);
            // As many late as can be, so that its share stays where it is at least.
            targets.answered(1, now % (100 * MS) == 0 ? 20 * MS : MS, true, now);
        }
        assertTrue(strict.share() < 0.5, "share " + strict.share());
        assertTrue(loose.share() < 0.5, "share " + loose.share());
    }

    @Test
    void thoseThatWereInForceSayNothingToThePace() {
        Targets before = new Targets(List.of(response()), pace);
        before.began(0, 0);
        before.passed(MS);
        Targets after = before.follow(List.of(response()), true, 2 * MS);
        after.began(0, 3 * MS);
        after.passed(4 * MS);
        assertEquals(0.1, pace.share(), 1e-9);
        before.answered(0, 5 * MS, true, 5 * MS);
        before.passed(5000 * MS);
        assertEquals(0.1, pace.share(), 1e-9);
        Targets off = after.follow(List.of(response()), false, 5000 * MS);
        off.began(0, 5000 * MS);
        off.passed(5000 * MS);
        after.passed(5000 * MS);
        assertEquals(Double.POSITIVE_INFINITY, pace.share());
    }
}
