package weir.regulator.pause;

/**
 * Finds the share of the time that others may run so that a given part of the answers is late.
 *
 * <p>Stochastic approximation of a quantile (Robbins and Monro 1951) on the logarithm of the share: a late answer takes a step,
 * those in time give so much that the share rests where the aim is met. Late answers come in clusters, so near the aim the step is
 * small, 1 %; where many more are late than is aimed at, it is five times that; and where none has been late for so long that
 * chance hardly explains it, what those in time give is ten times as much.
 */
final class Steering {
    private static final double STEP = 0.01;
    private static final double STEP_FAR = 0.05;
    /** From so many times the aim on it is far. */
    private static final double FAR = 10;
    /** Answers over which late ones are counted for that. */
    private static final double MEMORY = 100;
    /** So many late ones were to be expected, but none came: hardly by chance, though they come in clusters. */
    private static final double MISSED = 15;
    private static final double GAIN_MISSED = 10;
    /** How far above the share in use. */
    private static final double HEADROOM = 1.25;

    private final double aim;
    private double share = Double.POSITIVE_INFINITY;
    private double late;
    private double sinceLate;

    /** Aims at this part of late answers; others run as they like until the first. */
    Steering(double aim) {
        this.aim = aim;
    }

    /** Threads of others that may run at a time, on average. */
    double share() {
        return share;
    }

    /**
     * An answer came in time or not.
     *
     * @param used threads of others that ran at a time of late
     * @param pressed whether any of them had to stand still of late
     */
    void answered(boolean inTime, double used, boolean pressed) {
        late += ((inTime ? 0 : 1) - late) / MEMORY;
        double most = Math.max(Math.min(share, used), Target.SHARE_MIN) * HEADROOM;
        if (!inTime) {
            sinceLate = 0;
            double step = late > FAR * aim ? STEP_FAR : STEP;
            share = Math.max(Math.min(share, most) * (1 - step), Target.SHARE_MIN);
        } else {
            sinceLate++;
            if (pressed && share < most) {
                double gain = sinceLate * aim > MISSED ? GAIN_MISSED : 1;
                share = Math.min(share * (1 + STEP * gain * aim / (1 - aim)), most);
            }
        }
    }
}
