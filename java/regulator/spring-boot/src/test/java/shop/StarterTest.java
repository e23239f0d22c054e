package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.task.TaskDecorator;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;

/** Real applications with the starter, asked over HTTP. */
@Timeout(120)
class StarterTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private ConfigurableApplicationContext application;

    /** An application of somebody's own. */
    @SpringBootApplication
    @RestController
    static class Shop {
        @GetMapping("/boards")
        String board() {
            return "posts";
        }

        @GetMapping("/full")
        String full() {
            return "never";
        }
    }

    @AfterEach
    void end() {
        if (application != null) {
            application.close();
        }
        Regulator.shared().apply(Settings.OFF);
    }

    private void start(String... options) {
        List<String> all = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.endpoints.web.exposure.include=metrics,health,info",
                "--management.endpoint.health.show-details=always",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn"));
        all.addAll(List.of(options));
        application = SpringApplication.run(Shop.class, all.toArray(new String[0]));
    }

    private HttpResponse<String> get(String path) throws Exception {
        String port = application.getEnvironment().getProperty("local.server.port");
        URI uri = URI.create("http://127.0.0.1:" + port + path);
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void propertiesAreItsSettings() throws Exception {
        start(
                "--weir.regulator.class.light.urls[0]=/boards",
                "--weir.regulator.class.light.urls[1]=/posts/*",
                "--weir.regulator.promise.light=p99 <= 50 ms",
                "--weir.regulator.class.full.urls=/full",
                "--weir.regulator.class.full.rate=0.001",
                "--weir.regulator.class.full.max-wait=0 ms");
        Map<String, String> settings = Regulator.shared().settings().values();
        assertEquals("/boards,/posts/*", settings.get("class.light.urls"));
        assertEquals("posts", get("/boards").body());
        get("/full");
        assertEquals(429, get("/full").statusCode());
        String health = get("/actuator/health").body();
        assertTrue(health.contains("\"promises-kept\":{\"light\":"), health);
        assertTrue(get("/actuator/info").body().contains("p99 <= 50 ms"));
        String meter = get("/actuator/metrics/weir.regulator.requests.refused?tag=class:full&tag=why:rate").body();
        assertTrue(meter.contains("\"value\":1.0"), meter);
        String waits = get("/actuator/metrics/weir.regulator.wait?tag=class:light").body();
        assertTrue(waits.contains("\"COUNT\",\"value\":1.0"), waits);
        assertFalse(application.containsBean("requestsTakeTheirWorkAlong"));
    }

    @Test
    void withoutPropertiesNothingIsHeld() throws Exception {
        start("--weir.regulator.wrap-tasks=true");
        assertEquals("posts", get("/boards").body());
        assertFalse(Regulator.shared().isOn());
        assertEquals(1, application.getBeansOfType(TaskDecorator.class).size());
    }

    @Test
    void itCanBeLeftOut() throws Exception {
        start("--weir.regulator.enabled=false", "--weir.regulator.rate=0.001");
        assertEquals("posts", get("/boards").body());
        assertFalse(application.containsBean("regulatorFilter"));
    }

    @Test
    void whatMakesNoSenseIsToldAtTheStart() {
        Exception refused = assertThrows(Exception.class, () -> start("--weir.regulator.promise.light=soon"));
        StringBuilder said = new StringBuilder();
        for (Throwable why = refused; why != null; why = why.getCause()) {
            said.append(why.getMessage()).append('\n');
        }
        assertTrue(said.toString().contains("promise.light"), said::toString);
    }

    @Test
    void aRegulatorOfTheApplicationsOwnIsUsed() throws Exception {
        Regulator own = new Regulator(Settings.OFF, Time.ofMachine());
        SpringApplication made = new SpringApplication(Shop.class);
        made.addInitializers(context -> context.getBeanFactory().registerSingleton("own", own));
        application = made.run(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--weir.regulator.class.light.urls=/boards",
                "--weir.regulator.class.light.concurrency=5");
        get("/boards");
        assertTrue(own.isOn());
        assertEquals(1, own.seen("light").arrived);
        assertFalse(Regulator.shared().isOn());
    }
}
