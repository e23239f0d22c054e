package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/** The share that a promise leaves over, where answers are late with a chance that follows from it. */
class SteeringTest {
    private static final long MS = 1_000_000;
    /** Threads that would run if they might. */
    private static final double WANTED = 20;

    /** What may be late, as a multiple of what is allowed: {@link ResponseTarget} allows a fifth of what a promise does. */
    private static final double MARGIN = 1.15;

    private final SplittableRandom random = new SplittableRandom(7);
    private long now;

    /** What came of some time. */
    private static final class Played {
        long answers;
        long late;
        double shares;

        double latePart() {
            return (double) late / answers;
        }

        double meanShare() {
            return shares / answers;
        }

        @Override
        public String toString() {
            return String.format("%.2f %% late, share %.3f", latePart() * 100, meanShare());
        }
    }

    /** Bursts of so many late answers, begun so that they are this part of all at a share. */
    private Played play(Steering steering, int perS, int seconds, int burst, DoubleUnaryOperator latePart) {
        Played played = new Played();
        int left = 0;
        for (long answer = 0; answer < (long) perS * seconds; answer++) {
            now += 1_000_000_000L / perS;
            double share = Math.min(steering.share(), WANTED);
            if (left == 0 && random.nextDouble() < latePart.applyAsDouble(share) / burst) {
                left = burst;
            }
            boolean isLate = left > 0;
            left -= isLate ? 1 : 0;
            steering.answered(!isLate, isLate ? 20 * MS : MS, share, steering.share() < WANTED, now);
            played.answers++;
            played.late += isLate ? 1 : 0;
            played.shares += share;
        }
        return played;
    }

    /** One in a hundred is late at half a thread, and more the more run. */
    private static double crowded(double share) {
        return Math.min(0.01 * (share / 0.5) * (share / 0.5), 1);
    }

    @Test
    void itRestsWhereTheBudgetIsUsed() {
        Steering steering = new Steering(0.01, 1);
        play(steering, 2500, 20, 1, SteeringTest::crowded);
        Played rest = play(steering, 2500, 200, 1, SteeringTest::crowded);
        assertTrue(rest.latePart() <= 0.01 * MARGIN, rest.toString());
        assertTrue(rest.meanShare() >= 0.8 * 0.5, rest.toString());
    }

    /** Collections of garbage delay all that are there. */
    @Test
    void itRestsThereTooIfLateAnswersComeInBursts() {
        Steering steering = new Steering(0.01, 1);
        play(steering, 2500, 20, 40, SteeringTest::crowded);
        Played rest = play(steering, 2500, 400, 40, SteeringTest::crowded);
        assertTrue(rest.latePart() <= 0.01 * MARGIN, rest.toString());
        assertTrue(rest.meanShare() >= 0.6 * 0.5, rest.toString());
    }

    @Test
    void halfOfTheAnswersCanBePromisedToo() {
        Steering steering = new Steering(0.5, 1);
        DoubleUnaryOperator chance = share -> Math.min(share, 1);
        play(steering, 2500, 60, 1, chance);
        Played rest = play(steering, 2500, 200, 1, chance);
        assertTrue(rest.latePart() <= 0.5 * MARGIN, rest.toString());
        assertTrue(rest.meanShare() >= 0.4, rest.toString());
    }

    /** The share when nothing has been late for so long. */
    private double afterCalm(Steering steering, int seconds) {
        play(steering, 2500, seconds, 1, share -> 0);
        return steering.share();
    }

    /** One who has just got through an overload, as when twenty run beside the class for the first time. */
    private Steering overloaded() {
        Steering steering = new Steering(0.01, 1);
        for (int answer = 0; answer < 2000; answer++) {
            now += MS / 2;
            steering.answered(false, 300 * MS, WANTED, false, now);
        }
        return steering;
    }

    @Test
    void anOverloadIsEndedAtOnceAndForgottenSoon() {
        Steering steering = overloaded();
        assertTrue(steering.share() <= 0.1, "share " + steering.share());
        double after = afterCalm(steering, 10);
        assertTrue(after >= 0.5, "share " + after);
    }

    /** What an overload says is only that it was far too much. */
    @Test
    void afterAnOverloadTheShareIsFoundFromBelow() {
        Played all = new Played();
        for (int turn = 0; turn < 20; turn++) {
            Steering steering = overloaded();
            Played one = play(steering, 2500, 8, 40, SteeringTest::crowded);
            all.answers += one.answers;
            all.late += one.late;
            all.shares += one.shares;
        }
        assertTrue(all.latePart() <= 0.0075, all.toString());
        assertTrue(all.meanShare() >= 0.35 * 0.5, all.toString());
    }

    @Test
    void aBurstIsNotTakenForAnOverload() {
        Steering steering = new Steering(0.01, 1);
        play(steering, 2500, 1, 1, share -> 1);
        double before = afterCalm(steering, 6);
        for (int answer = 0; answer < 50; answer++) {
            now += MS / 2;
            steering.answered(false, 25 * MS, before, true, now);
        }
        double low = afterCalm(steering, 1);
        double again = afterCalm(steering, 4);
        assertTrue(low >= before / 2 && low < before, before + " before, then " + low);
        assertTrue(again >= before, before + " before, then " + again);
    }

    @Test
    void nobodyIsStarvedForWhatHeDoesNotCause() {
        Steering steering = new Steering(0.01, 2);
        Played played = play(steering, 1000, 120, 1, share -> 0.05);
        assertTrue(steering.isImpossible(), played.toString());
        assertTrue(played.meanShare() >= 0.4, played.toString());
        afterCalm(steering, 20);
        assertFalse(steering.isImpossible(), "nothing has been late for long");
        assertTrue(steering.share() >= 0.5, "share " + steering.share());
    }

    @Test
    void whoIsToBlameIsHeldThoughThatDoesNotSuffice() {
        Steering steering = new Steering(0.01, 1);
        Played played = play(steering, 1000, 120, 1, share -> share < 0.1 ? 0.03 : 0.1);
        assertTrue(steering.isImpossible(), played.toString());
        assertTrue(played.latePart() <= 0.04, played.toString());
    }

    /** Answers are in time until something happens that finds the CPUs full. */
    @Test
    void whereTheCpusAreFullOthersGetNoMore() {
        Steering steering = overloaded();
        for (int reading = 0; reading < 40; reading++) {
            steering.busy(0.84);
        }
        for (int second = 0; second < 10; second++) {
            steering.busy(0.84);
            play(steering, 2500, 1, 1, share -> 0);
        }
        double full = steering.share();
        assertTrue(full <= 0.1, "share " + full);
        steering.busy(0.5);
        steering.busy(0.5);
        double room = afterCalm(steering, 3);
        assertTrue(room >= 0.5 && room < WANTED, "share " + room);
        for (int second = 0; second < 40; second++) {
            steering.busy(1);
            play(steering, 2500, 1, 1, share -> 0);
        }
        double less = steering.share();
        assertTrue(less >= 0.2 && less <= 0.3, "share " + less);
    }

    /** Bursts of an eighth of a second, which cost what is aimed at in 48 s. */
    @Test
    void aLongBurstIsPaidBack() {
        Steering steering = new Steering(0.0025, 1);
        play(steering, 2500, 60, 300, share -> 0.01 * share);
        Played rest = play(steering, 2500, 1200, 300, share -> 0.01 * share);
        assertTrue(rest.latePart() <= 0.016, rest.toString());
    }

    @Test
    void aLateAnswerOfAFewIsNotMuch() {
        Steering steering = new Steering(0.01, 1);
        Played played = play(steering, 5, 2000, 1, share -> 0.002);
        assertTrue(played.meanShare() >= 0.5, played.toString());
    }
}
