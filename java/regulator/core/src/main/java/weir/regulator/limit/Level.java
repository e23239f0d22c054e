package weir.regulator.limit;

/** What is measured at one limit. */
final class Level {
    /** Below this busy share, throughput is the less noisy of the two. */
    private static final double BUSY_MIN = 0.5;

    final double limit;
    final double inFlight;
    /** NaN where the CPU was not read all the time. */
    final double busy;
    final double perS;
    final double responseS;

    private Level(double limit, double inFlight, double busy, double perS, double responseS) {
        this.limit = limit;
        this.inFlight = inFlight;
        this.busy = busy;
        this.perS = perS;
        this.responseS = responseS;
    }

    private boolean isBusy() {
        return busy >= BUSY_MIN;
    }

    /** By what part the pace has grown. */
    double gain(Level before) {
        boolean isRead = isBusy() && before.isBusy();
        return (isRead ? busy / before.busy : perS / before.perS) - 1;
    }

    /** By what part the CPU has grown busier; without bound where it was not read. */
    double busyGain(Level before) {
        double gain = busy / before.busy - 1;
        return Double.isNaN(gain) ? Double.POSITIVE_INFINITY : gain;
    }

    /** The measurement of the present limit, while it goes on. */
    static final class Measured {
        /**
         * Readings of the CPU over which a level is measured, and the least responses in them: of a few long requests, as many begin or
         * end in a reading as chance has it, and the CPU is as busy as that.
         */
        private static final int READINGS = 2;
        private static final double READ_RESPONSES = 12.0;
        /**
         * Responses over which it is measured otherwise, for a change by 1: the deviation of the difference of two such counts
         * is a quarter of that change; for a change by x, 1/x² times as many.
         */
        private static final double RESPONSES = 32.0;
        private static final double RESPONSES_MIN = 20.0;

        private int windows;
        private double seconds;
        private double completed;
        private double inFlightS;
        private double busyS;
        private double responseS;

        void add(Window.Seen seen, double busy) {
            windows++;
            seconds += seen.seconds;
            completed += seen.completed;
            inFlightS += seen.inFlight * seen.seconds;
            busyS += busy * seen.seconds;
            responseS += seen.responseS * seen.completed;
        }

        /** Whether the present level is known well enough to judge the last change, and later the next one. */
        boolean isEnough(Level before, Level here, double nextChange) {
            boolean isRead = here.isBusy() && (before == null || before.isBusy());
            if (isRead) {
                return windows >= READINGS && completed >= READ_RESPONSES;
            }
            double last = before == null ? nextChange : Math.abs(here.limit / before.limit - 1);
            double change = Math.min(last, nextChange);
            double needed = RESPONSES / Math.max(change * change, 1e-4);
            return completed >= Math.max(needed, RESPONSES_MIN);
        }

        Level level(double limit) {
            return new Level(limit, perS(inFlightS), perS(busyS), perS(completed), responseS / Math.max(completed, 1));
        }

        /** Not 0, by which it will be divided. */
        private double perS(double sum) {
            return Math.max(sum / Math.max(seconds, 1e-9), 1e-6);
        }
    }
}
