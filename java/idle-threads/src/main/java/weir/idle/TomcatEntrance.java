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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
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
    /** How long all threads may take to come when they are called together. */
    private static final int CALL_S = 60;

    private final Tomcat tomcat = new Tomcat();
    private final Path directory;
    private final int instances;
    private final int threads;
    private final Flow flow;

    TomcatEntrance(Settings settings, CamelContext context, Pages pages) throws IOException {
        instances = settings.instances();
        directory = Files.createTempDirectory("idle-threads");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector("HTTP/1.1");
        connector.setPort(settings.port());
        threads = settings.idle() + settings.instances();
        for (String[] property : new String[][] {
            {"address", "127.0.0.1"}, {"minSpareThreads", String.valueOf(threads)}, {"maxThreads", String.valueOf(threads)}
        }) {
            connector.setProperty(property[0], property[1]);
        }
        tomcat.setConnector(connector);
        Context application = tomcat.addContext("", null);
        flow = new Flow(context.createProducerTemplate(), ConcurrentHashMap.newKeySet());
        Tomcat.addServlet(application, "flow", new FlowServlet(flow, pages));
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

    /**
     * Its threads take turns, but not strictly: of 10,000 some had no order after ten rounds through the network. So all of them are
     * called together here, and those who have had none work on one in the flow itself, as many at a time as the flow has users.
     */
    @Override
    public void workOnTheRest(byte[] order) throws InterruptedException {
        CountDownLatch called = new CountDownLatch(threads);
        CountDownLatch done = new CountDownLatch(threads);
        Semaphore atATime = new Semaphore(instances);
        Executor own = tomcat.getConnector().getProtocolHandler().getExecutor();
        for (int thread = 0; thread < threads; thread++) {
            own.execute(() -> {
                called.countDown();
                try {
                    if (called.await(CALL_S, TimeUnit.SECONDS) && !flow.haveWorked().contains(Thread.currentThread())) {
                        atATime.acquire();
                        try {
                            flow.answer(order);
                        } finally {
                            atATime.release();
                        }
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } finally {
                    done.countDown();
                }
            });
        }
        done.await();
    }

    @Override
    public long idle() {
        return Math.max(0, flow.haveWorked().size() - instances);
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

    /** The measured flow, and the threads that an order of theirs has succeeded in. */
    private record Flow(ProducerTemplate template, Set<Thread> haveWorked) {
        Message answer(byte[] order) {
            Message answer = template.request(Server.ORDER, exchange -> exchange.getMessage().setBody(order)).getMessage();
            if (status(answer) < HttpServletResponse.SC_BAD_REQUEST) {
                haveWorked.add(Thread.currentThread());
            }
            return answer;
        }

        static int status(Message answer) {
            return answer.getHeader(Exchange.HTTP_RESPONSE_CODE, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, Integer.class);
        }
    }

    private static final class FlowServlet extends HttpServlet {
        private final transient Flow flow;
        private final transient Pages pages;

        FlowServlet(Flow flow, Pages pages) {
            this.flow = flow;
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
            Message answer = flow.answer(order);
            write(response, Flow.status(answer), "text/xml;charset=UTF-8", answer.getBody(byte[].class));
        }

        private static void write(HttpServletResponse response, int status, String contentType, byte[] body) throws IOException {
            response.setStatus(status);
            response.setContentType(contentType);
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }
}
