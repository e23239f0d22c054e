package weir.regulator.limit;

/** Why a request is rejected. */
public enum Why {
    /** Its slot under a rate cap would open too late. Said at once. */
    RATE,
    /** All slots are taken and waiting is not allowed. Said at once. */
    CONCURRENCY,
    /** As many wait as may. Said at once. */
    QUEUE_FULL,
    /** It has waited as long as requests may. */
    WAIT_TOO_LONG,
    /** It was among the oldest in a queue that had been standing for too long. */
    EXPIRED
}
