package weir.stress;

import java.util.Locale;
import weir.regulator.Checkpoint;

/** {@code /heavy/numeric}: computes π again and again, work without memory and without garbage. */
final class Numeric implements Endpoint {
    private static final NumberParameter ROUNDS = new NumberParameter("rounds", "times", 1, 1_000_000, 100);
    private static final NumberParameter PAUSE = Steps.pause("round");
    /** Midpoints of one round: about as long as a walk of {@code /heavy}. */
    private static final int MIDPOINTS = 20_000;

    private static final Checkpoint CHECKPOINT = Checkpoint.of("numeric");

    @Override
    public Answer answer(Parameters parameters) throws BadParameter, Unavailable, InterruptedException {
        parameters.expectOnly(ROUNDS.name(), PAUSE.name());
        long rounds = parameters.number(ROUNDS);
        long pauseMs = parameters.number(PAUSE);

        CHECKPOINT.tick(0);
        Sum sum = new Sum();
        Steps.run(rounds, pauseMs, CHECKPOINT, sum);
        return Answer.json(String.format(Locale.ROOT, "{\"rounds\":%d,\"pi\":%.6f}", rounds, sum.total / rounds));
    }

    /** The integral of 4 / (1 + x²) from 0 to 1 by the midpoint rule, added up over all rounds so that none can be left out. */
    private static final class Sum implements Steps.Step {
        double total;

        @Override
        public void run() {
            double sum = 0;
            for (int at = 0; at < MIDPOINTS; at++) {
                double x = (at + 0.5) / MIDPOINTS;
                sum += 4 / (1 + x * x);
            }
            total += sum / MIDPOINTS;
        }
    }
}
