package weir.regulator.limit;

/** A limit that stays. */
final class FixedLimit extends Limit {
    private final double limit;

    FixedLimit(double limit) {
        this.limit = limit;
    }

    @Override
    double limit() {
        return limit;
    }

    @Override
    void finished(Sample sample, long now) {
        // It learns nothing.
    }
}
