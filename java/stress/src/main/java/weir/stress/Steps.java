package weir.stress;

import weir.regulator.Checkpoint;

/**
 * Long work in steps of about the same length. Behind each there is a checkpoint, where the regulator may let it stand back, and
 * the hand-set sleep that was used for the same before: application-level scheduling.
 */
final class Steps {
    private Steps() {}

    /** The parameter that is the hand-set sleep behind each of these steps. */
    static NumberParameter pause(String step) {
        return new NumberParameter("pause-ms", "ms after each " + step, 0, 60_000, 0);
    }

    /** One of them. */
    @FunctionalInterface
    interface Step {
        void run() throws Unavailable;
    }

    static void run(long times, long pauseMs, Checkpoint checkpoint, Step step) throws Unavailable, InterruptedException {
        for (long time = 0; time < times; time++) {
            step.run();
            checkpoint.tick(1);
            if (pauseMs > 0) {
                Thread.sleep(pauseMs);
            }
        }
    }
}
