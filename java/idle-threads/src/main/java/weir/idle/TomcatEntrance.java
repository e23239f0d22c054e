package weir.idle;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Tomcat, whose own threads run the flow. The idle ones are its spare threads: they take turns with those that work, since the one that
 * has waited longest gets the next request.
 */
final class TomcatEntrance implements Entrance {
    private final Tomcat tomcat = new Tomcat();
    private final Path directory;
    private final int instances;
    private final Set<Thread> haveWorked = ConcurrentHashMap.newKeySet();

    TomcatEntrance(Settings settings, CamelContext context, Pages pages) throws IOException {
        instances = settings.instances();
        directory = Files.createTempDirectory("idle-threads");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector("HTTP/1.1");
        connector.setPort(settings.port());
        int threads = settings.idle() + settings.instances();
        for (String[] property : new String[][] {
            {"address", "127.0.0.1"}, {"minSpareThreads", String.valueOf(threads)}, {"maxThreads", String.valueOf(threads)}
        }) {
            connector.setProperty(property[0], property[1]);
        }
        tomcat.setConnector(connector);
        Context application = tomcat.addContext("", null);
        Tomcat.addServlet(application, "flow", new FlowServlet(context.createProducerTemplate(), pages, haveWorked));
        application.addServletMappingDecoded("/*", "flow");
    }

    @Override
    public void open() throws LifecycleException {
        tomcat.start();
    }

    @Override
    public int port() {
        return tomcat.getConnector().getLocalPort();
    }

    /** Through the network, so that its threads take turns as they do later. */
    @Override
    public void work(byte[] order) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://127.0.0.1:" + port() + CONSUMER).toURL().openConnection();
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(order.length);
        connection.setRequestProperty("Content-Type", "text/xml;charset=UTF-8");
        connection.getOutputStream().write(order);
        // An order that the provider refuses is an answer, too.
        boolean isGood = connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST;
        try (InputStream answer = isGood ? connection.getInputStream() : connection.getErrorStream()) {
            answer.readAllBytes();
        }
    }

    @Override
    public long idle() {
        return Math.max(0, haveWorked.size() - instances);
    }

    @Override
    public void close() throws Exception {
        tomcat.stop();
        tomcat.destroy();
        delete(directory);
    }

    /** What Tomcat has made in it goes too. */
    private static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> inside = Files.walk(directory)) {
            inside.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            System.err.println("idle-threads: failed to delete " + directory + ": " + e);
        }
    }

    private static final class FlowServlet extends HttpServlet {
        private final transient ProducerTemplate template;
        private final transient Pages pages;
        private final transient Set<Thread> haveWorked;

        FlowServlet(ProducerTemplate template, Pages pages, Set<Thread> haveWorked) {
            this.template = template;
            this.pages = pages;
            this.haveWorked = haveWorked;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            Pages.Page page = pages.at(request.getRequestURI());
            write(response, page.status(), "text/plain;charset=UTF-8", page.text().getBytes(StandardCharsets.UTF_8));
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] order = request.getInputStream().readAllBytes();
            Exchange answered = template.request(Server.ORDER, exchange -> exchange.getMessage().setBody(order));
            int status = answered.getMessage().getHeader(Exchange.HTTP_RESPONSE_CODE, 500, Integer.class);
            write(response, status, "text/xml;charset=UTF-8", answered.getMessage().getBody(byte[].class));
            if (status < HttpServletResponse.SC_BAD_REQUEST) {
                haveWorked.add(Thread.currentThread());
            }
        }

        private static void write(HttpServletResponse response, int status, String contentType, byte[] body) throws IOException {
            response.setStatus(status);
            response.setContentType(contentType);
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }
}
