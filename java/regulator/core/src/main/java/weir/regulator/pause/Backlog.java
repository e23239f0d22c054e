package weir.regulator.pause;

/**
 * What requests of a class waited for before they were seen.
 *
 * <p>When all stand still for a while, as in a collection of garbage, requests go on arriving, and are seen one right after the other when
 * it is over. Where one that was measured ({@link Lateness}) had to wait until the end of a time in which none was seen, those that are
 * seen next are taken to have come in it, as far apart as requests come on average, until their moments have caught up. So those
 * who wait behind others count, too, which the one that was measured does not.
 *
 * <p>What was measured otherwise is spread over all requests: each waited for one of the last.
 */
final class Backlog {
    /** Times the mean gap between requests: none was seen for a while; and nobody waits any more. */
    private static final double LONG = 4;
    private static final double SHORT = 2;
    /** Gaps over which the mean is taken. */
    private static final int MEMORY = 512;
    private static final long NEVER = Long.MIN_VALUE / 2;

    private long lastBegan;
    private long seen;
    private double gapNs;
    /** The last time in which none was seen, and how many have been since. */
    private double from;
    private long until;
    private long since;
    private boolean isBehind;
    private boolean isStall;
    /** What was measured before is counted already. */
    private long countedUntil = NEVER;

    /** How long the next request waited that was seen at this moment. */
    long waitedNs(long began, Lateness lateness) {
        long gap = seen == 0 ? 0 : Math.max(0, began - lastBegan);
        boolean isLong = seen > MEMORY / LONG && gap > LONG * gapNs;
        if (isLong) {
            from = isBehind && isStall ? from + since * gapNs : lastBegan;
            until = began;
            since = 0;
            isBehind = true;
            isStall = false;
        }
        lastBegan = seen == 0 ? began : Math.max(lastBegan, began);
        seen++;
        gapNs += (gap - gapNs) / Math.min(seen, MEMORY);
        since++;
        double waited = began - (from + since * gapNs);
        isBehind &= waited > 0 && (isLong || gap < SHORT * gapNs);
        if (isBehind && !isStall && lateness.isOneBetween((long) from, until)) {
            isStall = true;
            countedUntil = until;
        }
        return isBehind && isStall ? (long) waited : lateness.next(countedUntil);
    }
}
