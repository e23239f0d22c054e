package weir.regulator.limit;

/**
 * Whether a queue stands, and what order it is then served in.
 *
 * <p>A queue that comes and goes takes up what is irregular in the arrivals. One that stands adds its length to everybody's
 * response time and gains nothing (Nichols and Jacobson 2012, "Controlling queue delay"). In a standing queue those who came
 * last are taken first, and the oldest are sent away early, because whoever has waited longest is most likely to have gone
 * (Maurer 2015, "Fail at scale").
 *
 * <p>A queue stands when its oldest has been older than a quarter of the longest wait for twice as long as that wait and is older
 * than half of it still: what an application that stood still has to catch up with lasts as long, but is soon younger. The oldest
 * then go after half of the longest wait. It is calm again when none had to go for the same time.
 */
final class Standing {
    private static final int TARGET_PARTS = 4;
    private static final int INTERVAL = 2;
    private static final int EXPIRY_PARTS = 2;

    /** Since when the oldest has been too old; {@link Admission#NEVER}: it is not. */
    private long since = Admission.NEVER;
    /** When somebody was last sent away. */
    private long expired;
    private boolean stands;

    /** Whether those who came last go first. */
    boolean newestFirst() {
        return stands;
    }

    /** How long the oldest may wait. */
    long patienceNs(long maxWaitNs) {
        return stands ? maxWaitNs / EXPIRY_PARTS : maxWaitNs;
    }

    /** Somebody is sent away. */
    void expire(long now) {
        expired = now;
    }

    /**
     * Looks at the oldest in the queue.
     *
     * @param ageNs its age; −1 without any, and while a rate and not the application is what they wait for
     */
    void observe(long ageNs, long maxWaitNs, long now) {
        long interval = maxWaitNs * INTERVAL;
        if (ageNs > maxWaitNs / TARGET_PARTS) {
            if (since == Admission.NEVER) {
                since = now;
            }
            stands |= Seconds.since(since, now) >= interval && ageNs > maxWaitNs / EXPIRY_PARTS;
        } else {
            since = Admission.NEVER;
            stands &= Seconds.since(expired, now) < interval;
        }
    }
}
