package weir.regulator.pause;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import weir.regulator.limit.Promise;

/** Promises under contention on a simulated machine: kept, and at what price for the heavy work. */
class PromisesTest {
    /** Light requests that use 40 % of the CPUs. */
    private static Machine machine(int cpus, int heavies) {
        Machine machine = new Machine();
        machine.cpus = cpus;
        machine.heavies = heavies;
        machine.lightPerS = 1000.0 * cpus;
        return machine;
    }

    private static Targets regulate(Machine machine, java.util.function.Function<Pace, Target> make) {
        Pace pace = new Pace(machine.cpus);
        Targets targets = new Targets(Arrays.asList(make.apply(pace), null), pace);
        machine.began = () -> targets.began(0, 0);
        machine.answered = (afterNs, now) -> targets.answered(0, afterNs, true, now);
        machine.busy = targets::busy;
        machine.pauses = Machine.regulated(targets, pace);
        return targets;
    }

    private static Targets promise(Machine machine, double p99Ms) {
        Promise promise = new Promise(0.99, (long) (p99Ms * 1e6));
        return regulate(machine, pace -> new ResponseTarget(promise, pace, new Lateness(), machine.cpus));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 20", "1, 40", "2, 20", "2, 40"})
    void aPromiseOfResponseTimeIsKept(int cpus, int heavies) {
        double aloneMs = machine(cpus, 0).run().p99Ms();
        Machine off = machine(cpus, heavies).run();
        Machine on = machine(cpus, heavies);
        Targets targets = promise(on, 2 * aloneMs);
        on.run();
        assertTrue(on.p99Ms() <= 2 * aloneMs, "alone " + aloneMs + " ms, on: " + on + ", off: " + off);
        assertNotEquals(Target.State.IMPOSSIBLE, targets.state(0));
        assertTrue(heavies == 1 || off.p99Ms() > 2 * aloneMs, "there is nothing to regulate: " + off);
    }

    /** The best sleep of a fine sweep that keeps the same promise, as somebody would find it by hand. */
    @ParameterizedTest
    @CsvSource({"1, 20", "2, 20", "1, 40"})
    void heavyWorkGetsAsMuchAsWithTheBestSleepSetByHand(int cpus, int heavies) {
        double promisedMs = 2 * machine(cpus, 0).run().p99Ms();
        Machine byHand = bestByHand(cpus, heavies, promisedMs);
        Machine on = machine(cpus, heavies);
        promise(on, promisedMs);
        on.run();
        assertTrue(on.heavyPerS() >= 0.9 * byHand.heavyPerS(), "by hand: " + byHand + ", on: " + on);
    }

    /** The shortest sleep that keeps the promise in each of three runs: longer ones give less. */
    private static Machine bestByHand(int cpus, int heavies, double promisedMs) {
        for (int sleepMs = 1; sleepMs <= 100; sleepMs++) {
            Machine byHand = null;
            boolean keeps = true;
            for (int seed = 5; seed < 8 && keeps; seed++) {
                byHand = machine(cpus, heavies);
                byHand.seed = seed;
                byHand.pauses = Machine.sleeping(sleepMs * 1_000_000L);
                keeps = byHand.run().p99Ms() <= promisedMs;
            }
            if (keeps) {
                return byHand;
            }
        }
        throw new AssertionError("no sleep keeps the promise");
    }

    @Test
    void heavyWorkAloneNeverPauses() {
        Machine alone = machine(2, 20);
        alone.lightPerS = 0;
        Machine on = machine(2, 20);
        on.lightPerS = 0;
        promise(on, 5);
        assertEquals(alone.run().stretches, on.run().stretches);
    }

    @Test
    void aPromiseThatCannotBeKeptIsToldSo() {
        Machine on = machine(1, 20);
        on.endNs = 15_000_000_000L;
        Targets targets = promise(on, 0.3);
        on.run();
        assertEquals(Target.State.IMPOSSIBLE, targets.state(0));
        assertTrue(on.stretches > 0, "heavy work goes on, if slowly");
    }

    @ParameterizedTest
    @CsvSource({"1, 20, 0", "2, 20, 0", "1, 40, 0", "1, 20, 0.1", "2, 20, 0.1"})
    void aPromiseOfThroughputIsKept(int cpus, int heavies, double drift) {
        Machine alone = closed(cpus, 0, drift).run();
        Machine off = closed(cpus, heavies, drift).run();
        Machine on = closed(cpus, heavies, drift);
        on.warmUpNs *= 2;
        on.endNs *= 2;
        Targets targets = regulate(on, pace -> new ThroughputTarget(0.95, pace, cpus));
        on.run();
        assertTrue(on.lightsPerS() >= 0.95 * alone.lightsPerS(), "alone: " + alone + ", on: " + on);
        assertTrue(off.lightsPerS() < 0.8 * alone.lightsPerS(), "there is nothing to regulate: " + off);
        assertTrue(on.heavyPerS() > 0.03 * off.heavyPerS(), "off: " + off + ", on: " + on);
        assertEquals(Target.State.KEPT, targets.state(0));
    }

    /** Two clients whose requests take a tenth of a second each. */
    @Test
    void aPromiseOfThroughputToAClassOfFewRequestsIsKept() {
        Machine alone = few(0).run();
        Machine on = few(20);
        regulate(on, pace -> new ThroughputTarget(0.9, pace, 1));
        on.run();
        assertTrue(on.lightsPerS() >= 0.9 * alone.lightsPerS(), "alone: " + alone + ", on: " + on);
    }

    private static Machine few(int heavies) {
        Machine machine = new Machine();
        machine.heavies = heavies;
        machine.lightClients = 2;
        machine.lightNs = 100_000_000L;
        machine.warmUpNs *= 6;
        machine.endNs *= 6;
        return machine;
    }

    /** Light requests that use 40 % of the CPUs complete whatever comes, as long as heavy work leaves them a CPU. */
    @ParameterizedTest
    @CsvSource({"1, 20", "2, 20"})
    void whatAPromiseOfThroughputNeedNotTakeIsLeftToHeavyWork(int cpus, int heavies) {
        Machine off = machine(cpus, heavies).run();
        Machine on = machine(cpus, heavies);
        Targets targets = regulate(on, pace -> new ThroughputTarget(0.95, pace, cpus));
        on.warmUpNs = on.endNs;
        on.endNs *= 2;
        on.run();
        assertTrue(on.lightsPerS() >= 0.95 * on.lightPerS, "on: " + on);
        assertTrue(on.heavyPerS() >= 0.5 * off.heavyPerS(), "off: " + off + ", on: " + on);
        assertEquals(Target.State.KEPT, targets.state(0));
    }

    /** Thirty clients that wait for nothing. */
    private static Machine closed(int cpus, int heavies, double drift) {
        Machine machine = new Machine();
        machine.drift = drift;
        machine.cpus = cpus;
        machine.heavies = heavies;
        machine.lightClients = 30;
        return machine;
    }
}
