package weir.hour;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/**
 * What a request does, said by its parameters one after the other: {@code cpu} (half milliseconds of computing, about), {@code
 * pause} (milliseconds asleep), {@code lock} (milliseconds with the one lock that everybody needs), {@code pool} (milliseconds
 * with a connection of the pool {@code jdbc/db}), {@code away} (milliseconds that another server takes, whose address is the
 * system property {@code weir.hour.away}), {@code garbage} (megabytes thrown away, beside {@link #LIVE} that stay).
 */
final class Work {
    private static final int STEPS = 300_000;
    /** Megabytes that stay alive once a request has made garbage: half of the heap. */
    private static final int LIVE = 130;

    private final Object lock = new Object();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private volatile DataSource pool;
    private final AtomicReferenceArray<byte[]> live = new AtomicReferenceArray<>(LIVE * 1024);

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
            case "garbage" -> garbage(amount);
            default ->
                throw new IllegalArgumentException("there are cpu, pause, lock, pool, away and garbage");
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

    /** Each kilobyte takes the place of another one, so that what is thrown away has lived long. */
    private long garbage(int megabytes) {
        for (int kilobyte = 0; kilobyte < live.length() && live.get(kilobyte) == null; kilobyte++) {
            live.set(kilobyte, new byte[1024]);
        }
        for (int kilobyte = 0; kilobyte < megabytes * 1024; kilobyte++) {
            live.set(ThreadLocalRandom.current().nextInt(live.length()), new byte[1024]);
        }
        return live.length();
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
