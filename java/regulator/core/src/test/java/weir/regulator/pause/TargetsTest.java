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
