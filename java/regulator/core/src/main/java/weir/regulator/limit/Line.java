package weir.regulator.limit;

/** Those of one class who wait, in the order in which they came. */
final class Line {
    private Permit oldest;
    private Permit newest;
    private int length;

    int length() {
        return length;
    }

    boolean isEmpty() {
        return length == 0;
    }

    /** The one who has waited longest, or null. */
    Permit oldest() {
        return oldest;
    }

    /** The one who came last, or null. */
    Permit newest() {
        return newest;
    }

    void join(Permit permit) {
        permit.older = newest;
        if (newest == null) {
            oldest = permit;
        } else {
            newest.newer = permit;
        }
        newest = permit;
        length++;
    }

    /** Takes somebody out, wherever it stands. */
    void leave(Permit permit) {
        if (permit.older == null) {
            oldest = permit.newer;
        } else {
            permit.older.newer = permit.newer;
        }
        if (permit.newer == null) {
            newest = permit.older;
        } else {
            permit.newer.older = permit.older;
        }
        permit.older = null;
        permit.newer = null;
        length--;
    }
}
