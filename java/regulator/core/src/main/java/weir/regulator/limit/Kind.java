package weir.regulator.limit;

/** How an admitted request ended. */
public enum Kind {
    /** With a response. */
    COMPLETED,
    /** The application refused it, broke off, or took too long. */
    FAILED,
    /** Its client left. */
    ABANDONED
}
