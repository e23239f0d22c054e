package weir.regulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import weir.regulator.pause.Lateness;

/** What requests wait before they are seen, on real threads. */
@Timeout(60)
class WakeProbeTest {
    private static final long MS = 1_000_000;

    private final Time time = Time.ofMachine();
    private final Lateness lateness = new Lateness();
    private final WakeProbe probe = new WakeProbe(time, lateness);

    /** Wants it to be known until a wait of this length has been measured. */
    private void awaitMeasured(long atLeastNs) {
        while (lateness.mostNs() < atLeastNs) {
            probe.want(time.now());
            LockSupport.parkNanos(MS);
        }
    }

    @Test
    void itMeasuresWhatThreadsOfTheMachineWait() {
        probe.seesWorker();
        awaitMeasured(1);
    }

    /** It ends a second after nobody wants to know any more, and what it measured then is not the wait of who comes an hour later. */
    @Test
    void whatItMeasuredIsForgottenWhenItEnds() {
        probe.seesWorker();
        awaitMeasured(1);
        for (long end = time.now() + 30_000 * MS; lateness.mostNs() > 0 && time.now() < end; ) {
            LockSupport.parkNanos(MS);
        }
        assertEquals(0, lateness.mostNs());
    }

    @Test
    void inATimeOfATestThereIsNothingToMeasure() {
        TestTime made = new TestTime();
        new WakeProbe(made, lateness).want(0);
        assertEquals(0, made.now(), "nobody has slept");
        assertEquals(0, lateness.mostNs());
    }

    /** Whoever waits for a carrier finds all in order once he runs: nothing but this shows the wait. */
    @Test
    void itMeasuresWhatVirtualThreadsWaitForACarrier() throws InterruptedException {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        CountDownLatch seen = new CountDownLatch(1);
        VirtualThreads.start(() -> {
            probe.seesWorker();
            seen.countDown();
        });
        seen.await();
        awaitMeasured(1);
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        AtomicBoolean release = new AtomicBoolean();
        for (int carrier = 0; carrier < carriers; carrier++) {
            VirtualThreads.start(() -> {
                busy.countDown();
                while (!release.get()) {
                    Thread.onSpinWait();
                }
            });
        }
        busy.await();
        time.park(200 * MS);
        release.set(true);
        awaitMeasured(100 * MS);
    }
}
