package weir.stress;

/**
 * The pool as its users see it, whatever pool it is. Totals count since the application started.
 *
 * <p>{@code WaitSeconds / Acquisitions} is the mean wait and the slope of {@code WaitingSeconds} the mean number waiting: both are
 * measured, neither is computed from the other.
 */
public interface PoolMBean {
    /** Connections taken. */
    long getAcquisitions();

    /** Times that no connection came, because the pool gave up or the database refused. */
    long getFailures();

    /** Time from asking for a connection to having it, over all acquisitions. */
    double getWaitSeconds();

    /** Requests that wait for a connection now. */
    long getWaiting();

    /** Integral of the number waiting over time. */
    double getWaitingSeconds();

    /** Connections held now. */
    long getInUse();

    /** Integral of the number held over time. */
    double getInUseSeconds();
}
