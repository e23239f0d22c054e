package weir.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The server and its provider, over the network as a client sees them. */
class ServerTest {
    private static final int IDLE = 120;

    private static HttpServer provider;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void startProvider() throws Exception {
        provider = Provider.start(0);
    }

    @AfterAll
    static void stopProvider() {
        provider.stop(0);
    }

    private static Settings settings(int idle, int frames, boolean virtual, boolean tomcat) {
        return new Settings(0, provider.getAddress().getPort(), 2, idle, 1_000, frames, virtual, tomcat, 150);
    }

    private HttpResponse<String> ask(Server server, String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
        if (body != null) {
            request.POST(HttpRequest.BodyPublishers.ofString(body)).header("Content-Type", "text/xml;charset=UTF-8");
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** A good order, a broken one, and what the server then tells. */
    private void serves(Server server) throws Exception {
        assertEquals(200, ask(server, "/ready", null).statusCode());
        long before = messages(server);
        HttpResponse<String> answer = ask(server, "/consumer", new String(Soap.order(5), java.nio.charset.StandardCharsets.UTF_8));
        assertEquals(200, answer.statusCode(), answer.body());
        assertTrue(answer.body().contains("<total>210</total>"), answer.body());
        HttpResponse<String> fault = ask(server, "/consumer", "<order>");
        assertEquals(500, fault.statusCode());
        assertTrue(fault.body().contains("<soap:Fault>"), fault.body());
        String page = ask(server, "/metrics", null).body();
        assertEquals(before + 2, messages(server), page);
        assertTrue(page.contains("flow_failures_total 1.0"), page);
        assertTrue(page.contains("flow_idle_threads " + IDLE + "."), page);
    }

    private long messages(Server server) throws Exception {
        String page = ask(server, "/metrics", null).body();
        String line = page.lines().filter(text -> text.startsWith("flow_messages_total ")).findFirst().orElseThrow();
        return (long) Double.parseDouble(line.split(" ")[1]);
    }

    @Test
    void idleFlowsStandBesideTheMeasuredOne() throws Exception {
        try (Server server = Server.start(settings(IDLE, 0, false, false))) {
            serves(server);
            assertEquals(IDLE, idleThreads().size());
            assertTrue(idleThreads().values().stream().allMatch(stack -> stack.length < 40), "they wait where SEDA waits");
        }
    }

    @Test
    void idleThreadsCanWaitDeepInCalls() throws Exception {
        try (Server server = Server.start(settings(IDLE, 200, false, false))) {
            serves(server);
            assertEquals(IDLE, idleThreads().size());
            assertTrue(idleThreads().values().stream().allMatch(stack -> stack.length > 200));
        }
    }

    @Test
    void tomcatsOwnThreadsAreIdle() throws Exception {
        try (Server server = Server.start(settings(IDLE, 0, false, true))) {
            serves(server);
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().matches("http-.*exec-\\d+"))
                    .count();
            assertEquals(IDLE + 2, threads);
        }
    }

    @Test
    void tomcatsThreadsThatChanceLeavesOutGetAnOrder() throws Exception {
        Settings none = new Settings(0, provider.getAddress().getPort(), 2, IDLE, 1_000, 0, false, true, 0);
        try (Server server = Server.start(none)) {
            assertEquals(IDLE + 2, messages(server), "one order for each thread, no more");
            serves(server);
        }
    }

    @Test
    void virtualThreadsAreNoThreadsOfTheSystem() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads came with Java 21");
        // Camel asks once, when its classes are loaded: so in a virtual machine of its own.
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dtest.provider=" + provider.getAddress().getPort(),
                        VirtualThreads.class.getName())
                .inheritIO()
                .start();
        assertEquals(0, process.waitFor());
    }

    /** Ends with 0 when flows on virtual threads have started and none of their threads is one of the system. */
    static final class VirtualThreads {
        private VirtualThreads() {}

        public static void main(String[] arguments) throws Exception {
            int port = Integer.getInteger("test.provider");
            Server server = Server.start(new Settings(0, port, 2, IDLE, 1_000, 0, true, false, 150));
            HttpClient client = HttpClient.newHttpClient();
            URI metrics = URI.create("http://127.0.0.1:" + server.port() + "/metrics");
            String page = client.send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString()).body();
            boolean worked = page.contains("flow_idle_threads " + IDLE + ".");
            System.exit(worked && idleThreads().isEmpty() ? 0 : 1);
        }
    }

    /** The idle flows' threads of the system, by the names that Camel gives them. */
    private static Map<Thread, StackTraceElement[]> idleThreads() {
        Map<Thread, StackTraceElement[]> all = Thread.getAllStackTraces();
        all.keySet().removeIf(thread -> !thread.getName().contains("seda://idle-"));
        return all;
    }
}
