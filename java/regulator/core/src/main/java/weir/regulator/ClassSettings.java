package weir.regulator;

import java.util.List;
import weir.regulator.limit.Concurrency;
import weir.regulator.limit.Rate;

/** What is said of one class of requests. Null stands for what is not. */
final class ClassSettings {
    /** The time within which nginx as a proxy waits for an answer unless told otherwise (proxy_read_timeout). */
    private static final long DEADLINE_DEFAULT_NS = 60_000_000_000L;

    final String name;
    final List<String> urls;
    final Rate rate;
    final Concurrency concurrency;
    final Long maxWaitNs;
    final Integer maxQueue;
    final Integer priority;
    /** Within which its requests are to be over, pauses included. */
    final long deadlineNs;
    final PromiseText promise;

    ClassSettings(String name, SettingsReader reader) {
        String key = "class." + name + ".";
        this.name = name;
        this.urls = reader.take(key + "urls", text -> List.of(text.trim().split("\\s*[,\\s]\\s*")), List.of());
        this.rate = reader.take(key + "rate", text -> Rate.perSecond(Quantity.number(text)), null);
        this.concurrency = reader.take(key + "concurrency", ConcurrencyText::parse, null);
        this.maxWaitNs = reader.take(key + "max-wait", Quantity::nanos, null);
        this.maxQueue = reader.take(key + "max-queue", Quantity::count, null);
        this.priority = reader.take(key + "priority", Quantity::count, null);
        this.deadlineNs = reader.take(key + "deadline", Quantity::nanos, DEADLINE_DEFAULT_NS);
        this.promise = reader.take("promise." + name, PromiseText::parse, null);
    }
}
