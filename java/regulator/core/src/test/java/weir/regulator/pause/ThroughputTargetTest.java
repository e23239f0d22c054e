package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a class loses to one piece of other work, second by second, where the loss does not follow from the share of that work. */
class ThroughputTargetTest {
    private static final long MS = 1_000_000;
    private static final long STRETCH_NS = 2 * MS;

    private final Pace pace = new Pace(1);
    private final ThroughputTarget target = new ThroughputTarget(0.95, pace, 1);
    private Targets targets = new Targets(List.of(target), pace);
    private long now;
    /** Requests a second while the other work has not run for a fifth of a second, and otherwise. */
    private double alonePerS = 1000;
    private double besidePerS = 1000;
    private boolean isThere = true;
    /** The other work waits for so long between two stretches by itself. */
    private long idleNs;

    private final Turn turn = new Turn();
    private long ranAt = -1000 * MS;
    private long runsUntil = -1;
    private double due;

    private void runFor(long seconds) {
        for (long end = now + seconds * 1000 * MS; now < end; now += MS) {
            others();
            due += (now - ranAt < 200 * MS ? besidePerS : alonePerS) / 1000;
            for (; due >= 1; due--) {
                if (isThere) {
                    targets.began(0, now);
                    targets.answered(0, MS, true, now);
                }
            }
        }
    }

    private void others() {
        if (now < ranAt + idleNs) {
            return;
        }
        targets.passed(now);
        if (runsUntil >= 0 && now >= runsUntil) {
            pace.ran(turn, STRETCH_NS, now);
            ranAt = now;
            runsUntil = -1;
        }
        if (runsUntil < 0 && pace.leftNs(turn, now) == 0) {
            pace.goesOn(turn, now);
            runsUntil = now + STRETCH_NS;
        }
    }

    @Test
    void whatCostsTooMuchHoweverLittleItRunsIsImpossible() {
        besidePerS = 700;
        runFor(100);
        assertEquals(Target.State.IMPOSSIBLE, target.state());
        assertEquals(0.7, target.measured(), 0.02);
        besidePerS = 1000;
        runFor(200);
        assertEquals(Target.State.KEPT, target.state());
    }

    @Test
    void nobodyMeasuresTheWaitsOfRequestsForIt() {
        targets.began(0, now);
        assertTrue(targets.isSomebodyHere(now));
        assertFalse(targets.isLatenessWanted(now));
    }

    @Test
    void whatCostsNothingGetsAllOfTheTime() {
        runFor(60);
        assertTrue(target.share() >= 0.9, "share " + target.share());
        assertEquals(1, target.measured(), 0.01);
        assertEquals(Target.State.KEPT, target.state());
    }

    /** While they have all they ask for, they are held every forty seconds only. */
    @Test
    void othersThatWantMoreAreNoticedSoon() {
        runFor(60);
        idleNs = 240 * MS;
        runFor(150);
        assertEquals(1, target.measured(), 0.01);
        idleNs = 0;
        besidePerS = 800;
        runFor(8);
        assertTrue(target.measured() < 0.99, "measured " + target.measured());
    }

    @Test
    void aClassOfFewRequestsIsNotForgottenWhenNoneCameInOneWindow() {
        alonePerS = 0.8;
        besidePerS = 0.8;
        runFor(300);
        assertTrue(target.share() < 1.2, "share " + target.share());
        alonePerS = 1000;
        besidePerS = 100;
        runFor(40);
        assertTrue(target.share() < 0.1, "share " + target.share());
    }

    /** One second with, one and a half without: nothing is lost. */
    @Test
    void aClassThatComesAndGoesHasLostNothing() {
        for (int burst = 0; burst < 60; burst++) {
            isThere = true;
            runFor(1);
            isThere = false;
            runFor(1);
            now += 500 * MS;
        }
        assertTrue(!(target.measured() < 0.95), "measured " + target.measured());
    }

    @Test
    void aStricterPromiseBesideItDoesNotMakeItsShareGrowForEver() {
        Target stricter = new Target() {
            @Override
            void answered(long afterNs, boolean completed, long now) {}

            @Override
            void passed(long now) {}

            @Override
            double share() {
                return 0.1;
            }

            @Override
            State state() {
                return State.KEPT;
            }

            @Override
            double measured() {
                return 1;
            }

            @Override
            long graceNs() {
                return MS;
            }
        };
        targets = new Targets(Arrays.asList(target, stricter), pace);
        targets.began(1, now);
        runFor(120);
        assertEquals(0.1, pace.share(), 1e-9);
        assertTrue(target.share() < 0.5, "share " + target.share());
    }

    @Test
    void aTimeInWhichItWasOffIsNoMeasurement() {
        runFor(2);
        List<Target> kept = List.of(target);
        targets = targets.follow(kept, false, now);
        now += 900 * MS;
        targets = targets.follow(kept, true, now);
        runFor(4);
        assertEquals(1, target.measured(), 0.01);
    }
}
