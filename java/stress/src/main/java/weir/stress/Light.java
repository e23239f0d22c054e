package weir.stress;

/** {@code /light}: a Fibonacci number by its definition, a small computation without memory or waiting. */
final class Light implements Endpoint {
    /** 45 takes seconds; each step more takes 1.6 times as long. */
    private static final NumberParameter N = new NumberParameter("n", "index of the number", 0, 45, 20);

    @Override
    public Answer answer(Parameters parameters) throws BadParameter {
        parameters.expectOnly(N.name());
        long n = parameters.number(N);
        return Answer.text("fibonacci(" + n + ") = " + fibonacci(n) + "\n");
    }

    /** Recursive on purpose: the number of calls grows as the result does. */
    static long fibonacci(long n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }
}
