package weir.regulator.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.management.JMX;
import javax.management.ObjectName;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import weir.regulator.RegulatorMXBean;

/** The page's recipe, as somebody types it: compiled, started, and asked. */
@Timeout(120)
class RecipeTest {
    private static final Path PAGE = Path.of("../../../docs/how-to/regulate-a-spring-boot-application.md");
    private static final int REPORTS = 8;
    private static final int BOARDS = 200;

    @TempDir
    private static Path directory;

    private static final ClassLoader BEFORE = Thread.currentThread().getContextClassLoader();
    private static URLClassLoader loader;
    private static ConfigurableApplicationContext application;
    private static RegulatorMXBean regulator;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        Recipe recipe = Recipe.of(PAGE);
        compile(Files.writeString(directory.resolve("Application.java"), recipe.application()));
        Files.writeString(directory.resolve("application.yml"), recipe.settings());
        loader = new URLClassLoader(new URL[] {directory.toUri().toURL()}, BEFORE);
        // Where Spring looks for components.
        Thread.currentThread().setContextClassLoader(loader);
        application = SpringApplication.run(
                loader.loadClass(Recipe.APPLICATION),
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--weir.regulator.wrap-tasks=true",
                "--management.endpoints.web.exposure.include=metrics",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn");
        regulator = JMX.newMXBeanProxy(
                ManagementFactory.getPlatformMBeanServer(),
                new ObjectName("weir.regulator:type=Regulator,name=\"/\""),
                RegulatorMXBean.class);
    }

    @AfterAll
    static void end() throws IOException {
        if (application != null) {
            application.close();
        }
        Thread.currentThread().setContextClassLoader(BEFORE);
        if (loader != null) {
            loader.close();
        }
    }

    private static void compile(Path source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter says = new StringWriter();
        List<String> options = List.of(
                "-parameters", "-proc:none", "-d", directory.toString(), "-classpath", System.getProperty("java.class.path"));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean isGood = compiler.getTask(says, files, null, options, null, files.getJavaFileObjects(source)).call();
            assertTrue(isGood, says::toString);
        }
    }

    private static HttpRequest request(String path) {
        String port = application.getEnvironment().getProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    }

    private String get(String path) throws Exception {
        HttpResponse<String> answer = client.send(request(path), HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), path + ": " + answer.body());
        return answer.body();
    }

    private static double metric(String name) {
        return regulator.getMetrics().get("weir.regulator." + name);
    }

    private static double finished(String serviceClass) {
        return metric("requests.finished{class=" + serviceClass + "}");
    }

    /** A request ends a moment after its client has the answer. */
    private static void awaitFinished(String serviceClass, double requests) throws InterruptedException {
        while (finished(serviceClass) < requests) {
            Thread.sleep(1);
        }
        assertEquals(requests, finished(serviceClass), serviceClass);
    }

    @Test
    void reportsStandBackForBoards() throws Exception {
        double boardsBefore = finished("light");
        double reportsBefore = finished("heavy");
        // Reports stand back only while there are boards.
        get("/boards/0");
        List<CompletableFuture<HttpResponse<String>>> reports = new ArrayList<>();
        for (int report = 0; report < REPORTS; report++) {
            String path = report % 2 == 0 ? "/reports/now" : "/reports/later";
            reports.add(client.sendAsync(request(path), HttpResponse.BodyHandlers.ofString()));
        }
        for (int board = 1; board < BOARDS; board++) {
            assertEquals("posts", get("/boards/" + board));
        }
        for (CompletableFuture<HttpResponse<String>> report : reports) {
            assertEquals(200, report.get().statusCode());
        }
        awaitFinished("light", boardsBefore + BOARDS);
        awaitFinished("heavy", reportsBefore + REPORTS);
        assertTrue(metric("checkpoint.pauses{checkpoint=report}") > 0, regulator.getMetrics()::toString);
    }

    @Test
    void theMBeanSaysAndChangesWhatIsPromised() {
        assertEquals(Set.of("light"), regulator.getPromises().keySet());
        regulator.set("promise.light", "p99 <= 40 ms");
        assertEquals("p99 <= 40 ms", regulator.getSettings().get("promise.light"));
    }

    @Test
    void actuatorShowsItsNumbers() throws Exception {
        double before = finished("light");
        get("/boards/1");
        awaitFinished("light", before + 1);
        String body = get("/actuator/metrics/weir.regulator.requests.finished?tag=class:light");
        assertTrue(body.contains("\"value\":" + (before + 1)), body);
    }
}
