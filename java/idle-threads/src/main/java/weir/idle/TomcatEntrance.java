package weir.idle;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
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

    TomcatEntrance(Settings settings, CamelContext context, Pages pages) throws IOException {
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
        Tomcat.addServlet(application, "flow", new FlowServlet(context.createProducerTemplate(), pages));
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

        FlowServlet(ProducerTemplate template, Pages pages) {
            this.template = template;
            this.pages = pages;
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
        }

        private static void write(HttpServletResponse response, int status, String contentType, byte[] body) throws IOException {
            response.setStatus(status);
            response.setContentType(contentType);
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }
}
