package weir.regulator.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.AssertionFailedError;

/** Every vector of requests at an admission, replayed step by step. */
class VectorsTest {
    /** Languages differ in the last digit of what they compute. */
    private static final double TOLERANCE = 1e-9;

    @TestFactory
    Stream<DynamicTest> everyVectorIsReplayedAsItWasRecorded() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path file : Vectors.files()) {
            JsonNode script = Vectors.read(file).get("script").get("admission");
            if (script != null) {
                tests.add(DynamicTest.dynamicTest(file.getFileName().toString(), () -> replay(script)));
            }
        }
        assertTrue(tests.size() >= 12, tests.size() + " vectors");
        return tests.stream();
    }

    @Test
    void aVectorThatSaysSomethingElseIsFoundOut() throws IOException {
        Path file = Vectors.files().stream().filter(of -> of.endsWith("rate.json")).findFirst().orElseThrow();
        JsonNode script = Vectors.read(file).get("script").get("admission");
        ((ArrayNode) script.get("steps").get(7).get("told")).removeAll();
        AssertionFailedError error = assertThrows(AssertionFailedError.class, () -> replay(script));
        assertTrue(error.getMessage().startsWith("step 7"), error.getMessage());
    }

    private static void replay(JsonNode script) {
        JsonNode steps = script.get("steps");
        Player player = new Player(Vectors.rules(script.get("rules")), steps.get(0).get("at").asLong());
        for (int index = 0; index < steps.size(); index++) {
            JsonNode step = steps.get(index);
            long at = step.get("at").asLong();
            String where = "step " + index + ", " + step;
            List<String> told = player.step(at, step.get("act"));
            List<String> expected = new ArrayList<>();
            step.path("told").forEach(of -> expected.add(of.toString()));
            assertEquals(expected, told, where);
            long wake = step.path("wake").asLong(Admission.NEVER);
            assertEquals(wake, player.admission.nextWake(), where);
            double limit = step.path("limit").asDouble(Double.POSITIVE_INFINITY);
            if (Double.isInfinite(limit)) {
                assertEquals(limit, player.admission.limit(), where);
            } else {
                assertEquals(limit, player.admission.limit(), TOLERANCE * limit, where);
            }
        }
    }

    /** An admission with the numbers of the requests. */
    private static final class Player {
        private final Admission admission;
        private final Map<Long, Permit> requests = new HashMap<>();

        Player(Rules rules, long now) {
            admission = new Admission(rules, now);
        }

        List<String> step(long at, JsonNode act) {
            List<String> told = new ArrayList<>();
            if (act.isTextual()) {
                assertEquals("wake", act.asText());
            } else {
                play(at, act.fieldNames().next(), act.elements().next(), told);
            }
            for (Permit permit = admission.poll(at); permit != null; permit = admission.poll(at)) {
                told.add(said(permit));
            }
            return told;
        }

        private void play(long at, String kind, JsonNode with, List<String> told) {
            long request = with.path("request").asLong();
            switch (kind) {
                case "arrive" -> {
                    Permit permit = admission.arrive(with.get("class").asInt(), at);
                    permit.setHolder(request);
                    requests.put(request, permit);
                    told.add(said(permit));
                }
                case "finish" -> {
                    Kind how = Kind.valueOf(with.get("kind").asText().toUpperCase(Locale.ROOT));
                    admission.finish(requests.remove(request), with.get("response_ns").asLong(), how, at);
                }
                case "abandon" -> {
                    // A client can also leave whose request is over.
                    if (requests.containsKey(request)) {
                        admission.abandon(requests.get(request), at);
                    }
                }
                case "read_cpu" -> admission.readCpu(with.asDouble(), at);
                default -> throw new IllegalArgumentException(kind);
            }
        }

        /** As the vectors write it. */
        private static String said(Permit permit) {
            String is = switch (permit.state()) {
                case GRANTED -> "\"admitted\"";
                case WAITING -> "\"queued\"";
                default -> "{\"refused\":{\"why\":\"" + permit.why().name().toLowerCase(Locale.ROOT)
                        + "\",\"retry_after_ns\":" + permit.retryAfterNs() + "}}";
            };
            return "{\"request\":" + permit.holder() + ",\"is\":" + is + "}";
        }
    }
}
