package weir.idle;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The SOAP provider: a stub that gives the same prices to everybody, at once. */
final class Provider {
    static final String PATH = "/prices";
    private static final int ARTICLES = 20;
    private static final int THREADS = 16;
    private static final int BACKLOG = 1_024;

    private Provider() {}

    /** Starts it on this port of the loopback address; 0 takes a free one. */
    static HttpServer start(int port) throws IOException {
        // Its answers are small: without this they wait 40 ms for the client's acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        byte[] prices = Soap.prices(ARTICLES);
        server.createContext("/", exchange -> answer(exchange, prices));
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.start();
        return server;
    }

    private static void answer(HttpExchange exchange, byte[] prices) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("Content-Type", "text/xml;charset=UTF-8");
            exchange.sendResponseHeaders(200, prices.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(prices);
            }
        }
    }
}
