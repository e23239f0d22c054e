package weir.regulator.bench;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import weir.regulator.Checkpoint;
import weir.regulator.Entry;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.Work;
import weir.regulator.limit.Kind;

/** Nanoseconds that one tick takes in which nothing is to be done, and one request that need not wait. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class Tick {
    /** By progress, by a promise to somebody who does not come, and off. */
    @Param({"progress", "promise", "off"})
    public String by;

    private Regulator regulator;
    private Checkpoint checkpoint;
    private Work.Bound bound;

    @Setup
    public void begin() {
        Map<String, String> settings = Map.of(
                "on", Boolean.toString(!by.equals("off")),
                "class.light.urls", "/light",
                by.equals("promise") ? "promise.light" : "class.light.max-wait", by.equals("promise") ? "p99<=50ms" : "200ms");
        regulator = new Regulator(Settings.of(settings), Time.ofMachine());
        checkpoint = regulator.checkpoint("bench");
        bound = regulator.begin(Duration.ofHours(1)).bind();
    }

    @TearDown
    public void end() {
        bound.close();
    }

    @Benchmark
    public void tick() {
        checkpoint.tick(1);
    }

    @Benchmark
    public void request() throws InterruptedException {
        Entry entry = regulator.enter("/heavy");
        try (Work.Bound of = entry.work().bind()) {
            checkpoint.tick(1);
        }
        entry.finish(Kind.COMPLETED);
    }
}
