package weir.regulator.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;
import weir.regulator.limit.ClassSeen;

/** What the filter holds in every servlet container. */
@Timeout(60)
abstract class FilterContract {
    /** How often it is looked whether the container still has a request. */
    private static final Duration LOOK = Duration.ofMillis(20);

    private final HttpClient client = HttpClient.newHttpClient();
    private final Regulator regulator = new Regulator(
            Settings.of(Map.of(
                    "class.all.urls", "/*",
                    "class.all.concurrency", "1",
                    "class.all.max-wait", "0 ms",
                    "class.many.urls", "/many/*",
                    "class.late.urls", "/late/*",
                    "promise.late", "p99 <= 1 ms",
                    "promise-by", "admission",
                    "class.rare.urls", "/rare",
                    "class.rare.rate", "0.001",
                    "class.rare.max-wait", "0 ms")),
            Time.ofMachine());
    private final Endings servlet = new Endings();
    private int port;

    /** Starts a server on a free port of 127.0.0.1, with the filter before the servlet, both for all requests. */
    abstract int start(RegulatorFilter filter, Endings servlet) throws Exception;

    abstract void stop() throws Exception;

    @BeforeEach
    void begin() throws Exception {
        port = start(new RegulatorFilter(regulator, LOOK), servlet);
    }

    @AfterEach
    void end() throws Exception {
        servlet.go.countDown();
        stop();
    }

    private HttpRequest request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(request(path), HttpResponse.BodyHandlers.ofString());
    }

    /** However it ends, it gives its slot back, and has ended once. */
    @ParameterizedTest
    @ValueSource(strings = {
        "/return", "/exception", "/error", "/refused", "/async", "/async-dispatch", "/async-timeout", "/async-error", "/nowhere"
    })
    void aPermitIsGivenBackOnce(String path) throws Exception {
        for (int time = 1; time <= 3; time++) {
            int status = get(path).statusCode();
            boolean fails = !path.equals("/return") && !path.equals("/async") && !path.equals("/async-dispatch");
            assertEquals(fails, status >= 400, path + " " + status);
            awaitFinished(time);
        }
        ClassSeen seen = regulator.seen("all");
        assertEquals(3, seen.admitted);
        assertEquals(0, seen.inFlight);
    }

    /** Its client has its answer, and waited longer for it than anybody. */
    @Test
    void anAnswerAtTheTimeOutIsALateOne() throws Exception {
        assertEquals(200, get("/late/async-answered").statusCode());
        awaitFinished("late", 1);
        assertEquals(0, regulator.seen("late").inTime);
    }

    /** Where nobody answers, the container says that it failed; that is none that was late. */
    @Test
    void noAnswerAtTheTimeOutIsAFailure() throws Exception {
        assertEquals(500, get("/late/async-unanswered").statusCode());
        awaitFinished("late", 1);
        assertEquals(1, regulator.seen("late").inTime);
    }

    /** Containers differ in what they answer then: nothing, or nothing before the time-out. */
    @Test
    void anExceptionWithWorkUnderWayGivesItBackToo() throws Exception {
        try (Socket socket = ask("/async-exception")) {
            awaitFinished(1);
        }
        assertEquals(200, get("/return").statusCode());
        awaitFinished(2);
        assertEquals(0, regulator.inFlight());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/endless", "/async-endless"})
    void aClientThatLeavesGivesItBackToo(String path) throws Exception {
        try (Socket socket = ask(path)) {
            assertTrue(socket.getInputStream().read() >= 0);
            servlet.here.await();
            assertEquals(1, regulator.inFlight());
        }
        awaitFinished(1);
        assertEquals(0, regulator.inFlight());
    }

    /**
     * In some of these cases Tomcat forgets the request without telling anybody; it must be enough of them to meet it. In some it
     * closes the next connection, too, before there is a request, or lets the thread write on to nobody until the time-out.
     */
    @Test
    void clientsThatLeaveAtTheBeginningAllGiveItBack() throws Exception {
        int clients = 500;
        for (int client = 0; client < clients; client++) {
            try (Socket socket = ask("/many/async-endless")) {
                socket.getInputStream().read();
            }
        }
        while (regulator.inFlight() > 0) {
            Thread.sleep(1);
        }
        ClassSeen seen = regulator.seen("many");
        assertTrue(seen.admitted > clients / 2, seen.admitted + " of " + clients);
        assertEquals(seen.admitted, seen.finished);
    }

    /** Nobody takes it for forgotten. */
    @Test
    void asynchronousWorkThatLastsKeepsWhatItTook() throws Exception {
        CompletableFuture<HttpResponse<String>> held =
                client.sendAsync(request("/async-held"), HttpResponse.BodyHandlers.ofString());
        servlet.here.await();
        Thread.sleep(LOOK.multipliedBy(10).toMillis());
        assertEquals(1, regulator.inFlight());
        servlet.go.countDown();
        assertEquals(200, held.get().statusCode());
        awaitFinished(1);
        assertEquals(0, regulator.inFlight());
    }

    /** Its answer can be read, or left. */
    private Socket ask(String path) throws IOException {
        Socket socket = new Socket("127.0.0.1", port);
        String request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    @Test
    void whatIsTooMuchIsRefused() throws Exception {
        CompletableFuture<HttpResponse<String>> held =
                client.sendAsync(request("/held"), HttpResponse.BodyHandlers.ofString());
        servlet.here.await();
        HttpResponse<String> refused = get("/return");
        assertEquals(503, refused.statusCode());
        assertEquals("1", refused.headers().firstValue("Retry-After").orElseThrow());
        assertEquals("too many requests at a time; try again in 1 s\n", refused.body());
        servlet.go.countDown();
        assertEquals(200, held.get().statusCode());
        awaitFinished(1);
        assertEquals(200, get("/return").statusCode());
    }

    @Test
    void tooHighARateIsRefusedAsSuch() throws Exception {
        get("/rare");
        HttpResponse<String> refused = get("/rare");
        assertEquals(429, refused.statusCode());
        long afterS = Long.parseLong(refused.headers().firstValue("Retry-After").orElseThrow());
        assertTrue(afterS > 900 && afterS <= 1000, afterS + " s");
    }

    @Test
    void offItIsNotThere() throws Exception {
        regulator.apply(regulator.settings().with("on", "false"));
        CompletableFuture<HttpResponse<String>> held =
                client.sendAsync(request("/held"), HttpResponse.BodyHandlers.ofString());
        servlet.here.await();
        assertEquals(200, get("/return").statusCode());
        assertEquals(0, regulator.seen("all").arrived);
        servlet.go.countDown();
        assertEquals(200, held.get().statusCode());
    }

    /** The response can be on its way before the filter has ended. */
    private void awaitFinished(long requests) throws InterruptedException {
        awaitFinished("all", requests);
    }

    private void awaitFinished(String name, long requests) throws InterruptedException {
        while (regulator.seen(name).finished < requests) {
            // The time-out of the test interrupts it.
            Thread.sleep(1);
        }
        assertEquals(requests, regulator.seen(name).finished);
    }
}
