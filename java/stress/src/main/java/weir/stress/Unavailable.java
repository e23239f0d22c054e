package weir.stress;

/** A request that is in order cannot be served: no data source, no connection, no table. */
final class Unavailable extends Exception {
    private final int status;

    Unavailable(int status, String message, Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    int status() {
        return status;
    }
}
