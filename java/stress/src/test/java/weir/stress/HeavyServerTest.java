package weir.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HeavyServerTest {
    @Test
    void heavyRequestsAreThoseBelowHeavy() {
        assertTrue(HeavyServer.takes("/heavy"));
        assertTrue(HeavyServer.takes("/heavy/numeric"));
        assertFalse(HeavyServer.takes("/heavyweight"));
        assertFalse(HeavyServer.takes("/light"));
    }

    @Test
    void theOtherServersAnswerIsPassedOn() throws Exception {
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/heavy", exchange -> {
            byte[] body = exchange.getRequestURI().toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/x-asked");
            exchange.sendResponseHeaders(418, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        other.start();
        HeavyServer server = new HeavyServer("http://127.0.0.1:" + other.getAddress().getPort());
        try {
            assertEquals(new Answer(418, "text/x-asked", "/heavy?walks=2&pause-ms=1"), server.answer("/heavy", "walks=2&pause-ms=1"));
            assertEquals(new Answer(418, "text/x-asked", "/heavy/disk"), server.answer("/heavy/disk", null));
        } finally {
            other.stop(0);
        }
        assertEquals(502, assertThrows(Unavailable.class, () -> server.answer("/heavy", null)).status());
    }
}
