package weir.stress;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.LongSupplier;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/** The server's data source {@code jdbc/db}, with every wait for a connection and every hold of one counted. */
final class Pool implements PoolMBean {
    /** Where the data source can be: the reference of the application, or the server's own name for it. */
    private static final String[] NAMES = {"java:comp/env/jdbc/db", "jdbc/db"};

    /** Gives out connections; may block until one is free. */
    @FunctionalInterface
    interface Source {
        Connection connection() throws SQLException, NamingException;
    }

    private final Source source;
    private final LongSupplier clock;
    private final Level waiting;
    private final Level inUse;
    private long acquisitions;
    private long failures;
    private double waitSeconds;

    Pool(Source source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
        this.waiting = new Level(clock.getAsLong());
        this.inUse = new Level(clock.getAsLong());
    }

    /** The pool that the server has under {@code jdbc/db}, looked up when it is first needed. */
    static Pool ofServer() {
        return new Pool(new Jndi(), System::nanoTime);
    }

    /** Takes a connection, waiting for it as long as the server's pool does. */
    Lease acquire() throws Unavailable {
        long askedNs = count(now -> waiting.change(now, 1));
        Connection connection = null;
        try {
            connection = source.connection();
            return new Lease(connection);
        } catch (NamingException e) {
            throw new Unavailable(500, "there is no DataSource jdbc/db: " + e, e);
        } catch (SQLException e) {
            throw new Unavailable(503, "failed to get a connection: " + e.getMessage(), e);
        } finally {
            boolean came = connection != null;
            count(now -> {
                waiting.change(now, -1);
                if (came) {
                    inUse.change(now, 1);
                    acquisitions++;
                    waitSeconds += (now - askedNs) / 1e9;
                } else {
                    failures++;
                }
            });
        }
    }

    /** A connection that is held; closing gives it back. */
    final class Lease implements AutoCloseable {
        private final Connection connection;

        private Lease(Connection connection) {
            this.connection = connection;
        }

        Connection connection() {
            return connection;
        }

        @Override
        public void close() throws Unavailable {
            // Counted before it is given back, so that never more are counted than there are.
            count(now -> inUse.change(now, -1));
            try {
                connection.close();
            } catch (SQLException e) {
                throw new Unavailable(500, "failed to give a connection back: " + e.getMessage(), e);
            }
        }
    }

    @FunctionalInterface
    private interface Change {
        void at(long nowNs);
    }

    private synchronized long count(Change change) {
        long nowNs = clock.getAsLong();
        change.at(nowNs);
        return nowNs;
    }

    @Override
    public synchronized long getAcquisitions() {
        return acquisitions;
    }

    @Override
    public synchronized long getFailures() {
        return failures;
    }

    @Override
    public synchronized double getWaitSeconds() {
        return waitSeconds;
    }

    @Override
    public synchronized long getWaiting() {
        return waiting.value();
    }

    @Override
    public synchronized double getWaitingSeconds() {
        return waiting.seconds(clock.getAsLong());
    }

    @Override
    public synchronized long getInUse() {
        return inUse.value();
    }

    @Override
    public synchronized double getInUseSeconds() {
        return inUse.seconds(clock.getAsLong());
    }

    /** The data source by its names; found once, then kept. */
    private static final class Jndi implements Source {
        private volatile DataSource found;

        @Override
        public Connection connection() throws SQLException, NamingException {
            DataSource known = found;
            if (known == null) {
                known = lookUp();
                found = known;
            }
            return known.getConnection();
        }

        private static DataSource lookUp() throws NamingException {
            NamingException first = null;
            for (String name : NAMES) {
                try {
                    return (DataSource) new InitialContext().lookup(name);
                } catch (NamingException e) {
                    first = first == null ? e : first;
                }
            }
            throw first;
        }
    }
}
