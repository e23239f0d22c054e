package weir.idle;

import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What the measured flow has done, and how many threads wait beside it. */
final class Figures {
    private final LongAdder messages = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder nanoseconds = new LongAdder();
    private final LongSupplier idle;

    /** With what counts the idle threads that have worked before. */
    Figures(LongSupplier idle) {
        this.idle = idle;
    }

    /** A message has left the flow so long after an instance of the flow took it. */
    void count(long tookNs, boolean failed) {
        nanoseconds.add(tookNs);
        messages.increment();
        if (failed) {
            failures.increment();
        }
    }

    /** The page of metrics in Prometheus's text format. */
    String page() {
        return line("flow_messages_total", messages.sum())
                + line("flow_failures_total", failures.sum())
                + line("flow_seconds_total", nanoseconds.sum() / 1e9)
                + line("flow_idle_threads", idle.getAsLong());
    }

    private static String line(String name, double value) {
        return String.format(Locale.ROOT, "%s %.9g\n", name, value);
    }
}
