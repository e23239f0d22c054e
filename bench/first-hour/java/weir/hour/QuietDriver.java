package weir.hour;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.Properties;
import java.util.logging.Logger;

/** A driver without a database: the pool in front of it is real, its connections do nothing. */
public final class QuietDriver implements Driver {
    private static final String URL = "jdbc:quiet:";

    static {
        try {
            DriverManager.registerDriver(new QuietDriver());
        } catch (SQLException failed) {
            throw new ExceptionInInitializerError(failed);
        }
    }

    @Override
    public Connection connect(String url, Properties properties) {
        return acceptsURL(url) ? quiet(Connection.class) : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith(URL);
    }

    private static <T> T quiet(Class<T> what) {
        InvocationHandler answers = (self, method, arguments) -> {
            Class<?> type = method.getReturnType();
            return switch (method.getName()) {
                case "isValid", "getAutoCommit" -> true;
                case "equals" -> self == arguments[0];
                case "hashCode" -> System.identityHashCode(self);
                case "toString" -> "a quiet " + what.getSimpleName();
                case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
                default -> of(type);
            };
        };
        return what.cast(Proxy.newProxyInstance(what.getClassLoader(), new Class<?>[] {what}, answers));
    }

    private static Object of(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 0;
        }
        if (type == long.class) {
            return 0L;
        }
        if (type == String.class) {
            return "";
        }
        return Statement.class.isAssignableFrom(type) || type == java.sql.DatabaseMetaData.class
                ? Proxy.newProxyInstance(
                        QuietDriver.class.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> of(method.getReturnType()))
                : null;
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }
}
