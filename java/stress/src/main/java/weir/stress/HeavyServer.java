package weir.stress;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import weir.regulator.Checkpoint;

/**
 * Another server with this application, in which heavy requests run.
 *
 * <p>The thread of the request waits here until the other server has answered. Without a time limit, as a heavy request has none.
 * There are checkpoints before and after that: where the regulator lets a request stand back it stands here, and the time for which
 * the other server is at work counts as its running time.
 */
final class HeavyServer {
    /** The system property that names it, such as {@code http://127.0.0.1:8081}. */
    static final String PROPERTY = "weir.stress.heavy-at";

    private static final String HEAVY = "/heavy";

    private static final Checkpoint CHECKPOINT = Checkpoint.of("passed-on");

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String origin;

    HeavyServer(String origin) {
        this.origin = origin;
    }

    /** The one that the system property names, or null. */
    static HeavyServer named() {
        String origin = System.getProperty(PROPERTY);
        return origin == null ? null : new HeavyServer(origin);
    }

    /** Whether a path is that of a heavy request. */
    static boolean takes(String path) {
        return path.equals(HEAVY) || path.startsWith(HEAVY + "/");
    }

    /** Its answer to a path and a query, which may be null. */
    Answer answer(String path, String query) throws Unavailable, InterruptedException {
        URI uri = URI.create(origin + path + (query == null ? "" : "?" + query));
        CHECKPOINT.tick(0);
        try {
            HttpResponse<String> response =
                    client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            CHECKPOINT.tick(1);
            String contentType = response.headers().firstValue("Content-Type").orElse("text/plain");
            return new Answer(response.statusCode(), contentType, response.body());
        } catch (IOException e) {
            throw new Unavailable(502, "failed to get an answer from " + origin + ": " + e, e);
        }
    }
}
