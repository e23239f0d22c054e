package weir.stress;

import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * {@code /stress}: a request that holds database connections, computes, and sleeps, each for as long as it is told.
 *
 * <p>The published program read the length of the second hold under a misspelt name, so that hold always lasted its default of
 * 1 ms. {@code form=as-published} repeats that, {@code form=as-intended} (the default) does what was meant. Its other mistake,
 * parameters in fields that all requests share, is not repeated in any form.
 */
final class Stress implements Endpoint {
    private static final NumberParameter SEARCH_TIME = NumberParameter.milliseconds("searchTime", 1);
    private static final NumberParameter INTERVAL = NumberParameter.milliseconds("interval", 1);
    private static final NumberParameter DURATION = new NumberParameter("duration", "times", 0, 10_000, 1);
    private static final NumberParameter BIT = new NumberParameter("bit", "bits", 16, 8_192, 1_024);
    private static final NumberParameter UPDATE_TIME = NumberParameter.milliseconds("updateTime", 1);
    private static final ChoiceParameter FORM = new ChoiceParameter("form", List.of("as-intended", "as-published"));

    /** How long the second hold lasts as published, whatever {@code updateTime} says. */
    private static final long UPDATE_TIME_AS_PUBLISHED_MS = 1;

    private final Pool pool;

    Stress(Pool pool) {
        this.pool = pool;
    }

    @Override
    public List<String> methods() {
        return List.of("GET", "POST");
    }

    @Override
    public Answer answer(Parameters parameters) throws BadParameter, Unavailable, InterruptedException {
        parameters.expectOnly(
                SEARCH_TIME.name(), INTERVAL.name(), DURATION.name(), BIT.name(), UPDATE_TIME.name(), FORM.name());
        long searchTimeMs = parameters.number(SEARCH_TIME);
        long intervalMs = parameters.number(INTERVAL);
        long duration = parameters.number(DURATION);
        long bit = parameters.number(BIT);
        long updateTimeMs = parameters.number(UPDATE_TIME);
        String form = parameters.choice(FORM);
        long secondHoldMs = form.equals("as-published") ? UPDATE_TIME_AS_PUBLISHED_MS : updateTimeMs;

        long startNs = System.nanoTime();
        hold(searchTimeMs);
        int bits = compute((int) bit, duration, intervalMs);
        hold(secondHoldMs);
        double elapsedMs = (System.nanoTime() - startNs) / 1e6;

        assert duration == 0 || bits >= 2 * bit - 1;
        return Answer.text("searchTime = " + searchTimeMs + " ms\ninterval = " + intervalMs + " ms\nduration = " + duration
                + " times\nbit = " + bit + "\nupdateTime = " + updateTimeMs + " ms\nform = " + form + "\nsecond hold = "
                + secondHoldMs + " ms\nelapsed = " + String.format(Locale.ROOT, "%.3f", elapsedMs) + " ms\n");
    }

    /** Takes a connection, keeps it for a while, gives it back. */
    private void hold(long milliseconds) throws Unavailable, InterruptedException {
        try (Pool.Lease lease = pool.acquire()) {
            Thread.sleep(milliseconds);
        }
    }

    /** Multiplies two probable primes again and again, with a sleep each time; the length of the product in bits. */
    private static int compute(int bit, long times, long intervalMs) throws InterruptedException {
        // Of the thread, so that threads do not queue for a common source of randomness.
        ThreadLocalRandom random = ThreadLocalRandom.current();
        BigInteger first = BigInteger.probablePrime(bit, random);
        BigInteger second = BigInteger.probablePrime(bit, random);
        int bits = 0;
        for (long time = 0; time < times; time++) {
            bits = first.multiply(second).bitLength();
            Thread.sleep(intervalMs);
        }
        return bits;
    }
}
