package weir.regulator.limit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The vectors of the gateway's implementation: the very files of the repository. */
public final class Vectors {
    private static final Path BESIDE = Path.of("../../../crates/limit/vectors");

    private Vectors() {}

    /** All files, found from the module's directory. */
    public static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(BESIDE)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
        }
    }

    public static JsonNode read(Path file) throws IOException {
        return new ObjectMapper().readTree(file.toFile());
    }

    static Rules rules(JsonNode of) {
        List<ClassRules> classes = new ArrayList<>();
        for (JsonNode one : of.path("classes")) {
            classes.add(new ClassRules(
                    one.get("name").asText(),
                    rate(one.get("rate")),
                    concurrency(one.get("concurrency")),
                    promise(one.get("promise")),
                    one.has("max_wait_ns") ? one.get("max_wait_ns").asLong() : null,
                    one.has("max_queue") ? one.get("max_queue").asInt() : null));
        }
        return new Rules(
                rate(of.get("rate")),
                concurrency(of.get("concurrency")),
                of.path("max_wait_ns").asLong(Rules.MAX_WAIT_DEFAULT_NS),
                of.path("max_queue").asInt(Rules.MAX_QUEUE_DEFAULT),
                classes);
    }

    private static Rate rate(JsonNode of) {
        return of == null ? null : Rate.perSecond(of.asDouble());
    }

    private static Promise promise(JsonNode of) {
        return of == null ? null : new Promise(of.get("share").asDouble(), of.get("within_ns").asLong());
    }

    private static Concurrency concurrency(JsonNode of) {
        if (of == null) {
            return null;
        }
        String kind = of.fieldNames().next();
        JsonNode with = of.get(kind);
        return switch (kind) {
            case "fixed" -> new Fixed(with.asDouble());
            case "adaptive" -> new Adaptive(
                    number(with.path("goal").get("cpu")),
                    with.path("goal").has("p99_ns") ? with.path("goal").get("p99_ns").asLong() : null,
                    number(with.get("min")),
                    number(with.get("max")),
                    number(with.get("start")));
            case "aimd" -> new Aimd(
                    with.get("start").asDouble(),
                    with.get("min").asDouble(),
                    with.get("max").asDouble(),
                    with.get("back_off").asDouble(),
                    with.get("timeout_ns").asLong());
            case "vegas" -> new Vegas(with.get("start").asDouble(), with.get("max").asDouble());
            case "gradient2" -> new Gradient2(
                    with.get("start").asDouble(), with.get("min").asDouble(), with.get("max").asDouble());
            default -> throw new IllegalArgumentException(kind + " is no algorithm");
        };
    }

    private static Double number(JsonNode of) {
        return of == null || of.isNull() ? null : of.asDouble();
    }
}
