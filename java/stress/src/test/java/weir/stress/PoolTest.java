package weir.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import javax.naming.NameNotFoundException;
import org.junit.jupiter.api.Test;

/** Waits and holds on a clock that the test turns. */
class PoolTest {
    private long nowNs;

    private static final Connection CONNECTION = (Connection) Proxy.newProxyInstance(
            PoolTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> null);

    private void pass(double seconds) {
        nowNs += Math.round(seconds * 1e9);
    }

    @Test
    void waitsAndHoldsAreCountedApart() throws Unavailable {
        long[] waitingMeanwhile = new long[1];
        Pool[] pool = new Pool[1];
        pool[0] = new Pool(
                () -> {
                    pass(2.5);
                    waitingMeanwhile[0] = pool[0].getWaiting();
                    return CONNECTION;
                },
                () -> nowNs);
        Pool.Lease first = pool[0].acquire();
        pass(10);
        Pool.Lease second = pool[0].acquire();
        assertEquals(1, waitingMeanwhile[0]);
        assertEquals(2, pool[0].getInUse());
        first.close();
        pass(1);
        second.close();
        pass(100);

        assertEquals(2, pool[0].getAcquisitions());
        assertEquals(5.0, pool[0].getWaitSeconds(), 1e-9);
        assertEquals(5.0, pool[0].getWaitingSeconds(), 1e-9);
        assertEquals(0, pool[0].getWaiting());
        // The first for 12.5 s, the second for 1 s.
        assertEquals(13.5, pool[0].getInUseSeconds(), 1e-9);
        assertEquals(0, pool[0].getInUse());
    }

    @Test
    void whoNeverGetsOneWaitedButDidNotAcquire() {
        Pool pool = new Pool(
                () -> {
                    pass(30);
                    throw new SQLTransientConnectionException("nothing free after 30 s");
                },
                () -> nowNs);
        Unavailable refused = assertThrows(Unavailable.class, pool::acquire);
        assertEquals(503, refused.status());
        assertEquals("failed to get a connection: nothing free after 30 s", refused.getMessage());
        assertEquals(0, pool.getAcquisitions());
        assertEquals(1, pool.getFailures());
        assertEquals(0.0, pool.getWaitSeconds());
        assertEquals(30.0, pool.getWaitingSeconds(), 1e-9);
        assertEquals(0, pool.getWaiting());
        assertEquals(0, pool.getInUse());
    }

    @Test
    void aMissingDataSourceIsNamed() {
        Pool pool = new Pool(
                () -> {
                    throw new NameNotFoundException("jdbc");
                },
                () -> nowNs);
        Unavailable refused = assertThrows(Unavailable.class, pool::acquire);
        assertEquals(500, refused.status());
        assertEquals("there is no DataSource jdbc/db: javax.naming.NameNotFoundException: jdbc", refused.getMessage());
    }
}
