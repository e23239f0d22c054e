package weir.regulator.limit;

/** How a promise of response time stands that admission is to keep. */
public enum Promised {
    /** As many are in time as were promised. */
    KEPT,
    /** Fewer are, and there are others of whom fewer can be let in. */
    BROKEN,
    /** Fewer are, though of all others without a cap of their own as few are let in as can be. */
    HOPELESS;

    static Promised of(Kept kept, boolean isRestLeast) {
        if (kept.isKept()) {
            return KEPT;
        }
        return isRestLeast ? HOPELESS : BROKEN;
    }
}
