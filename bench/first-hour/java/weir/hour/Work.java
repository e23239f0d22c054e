package weir.hour;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/**
 * What a request does, said by its parameters one after the other: {@code cpu} (half milliseconds of computing, about), {@code
 * pause} (milliseconds asleep), {@code lock} (milliseconds with the one lock that everybody needs), {@code pool} (milliseconds
 * with a connection of the pool {@code jdbc/db}), {@code away} (milliseconds that another server takes, whose address is the
 * system property {@code weir.hour.away}).
 */
final class Work {
    private static final int STEPS = 300_000;

    private final Object lock = new Object();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private volatile DataSource pool;

    Work(DataSource pool) {
        this.pool = pool;
    }

    /** Does one of them. */
    long does(String what, int amount) throws IOException, InterruptedException, SQLException, NamingException {
        return switch (what) {
            case "cpu" -> compute(amount);
            case "pause" -> pause(amount);
            case "lock" -> locked(amount);
            case "pool" -> pooled(amount);
            case "away" -> away(amount);
            default -> throw new IllegalArgumentException("there are cpu, pause, lock, pool and away");
        };
    }

    private static long compute(int amount) {
        long value = System.nanoTime();
        for (long step = 0; step < (long) STEPS * amount; step++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        return value;
    }

    private static long pause(int milliseconds) throws InterruptedException {
        Thread.sleep(milliseconds);
        return milliseconds;
    }

    private long locked(int milliseconds) throws InterruptedException {
        synchronized (lock) {
            Thread.sleep(milliseconds);
        }
        return milliseconds;
    }

    private long pooled(int milliseconds) throws InterruptedException, SQLException, NamingException {
        if (pool == null) {
            pool = ofServer();
        }
        try (Connection connection = pool.getConnection()) {
            Thread.sleep(milliseconds);
            return connection.hashCode();
        }
    }

    private static DataSource ofServer() throws NamingException {
        try {
            return (DataSource) new InitialContext().lookup("java:comp/env/jdbc/db");
        } catch (NamingException notOfTheApplication) {
            return (DataSource) new InitialContext().lookup("jdbc/db");
        }
    }

    private long away(int milliseconds) throws IOException, InterruptedException {
        URI there = URI.create(System.getProperty("weir.hour.away") + "/work?pause=" + milliseconds);
        return client.send(HttpRequest.newBuilder(there).build(), HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }
}
