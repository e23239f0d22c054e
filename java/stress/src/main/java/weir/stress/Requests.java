package weir.stress;

import java.util.function.LongSupplier;

/** The count of running and answered requests. */
final class Requests implements RequestsMBean {
    private final LongSupplier clock;
    private final Level busy;
    private long completed;
    private long refused;

    Requests(LongSupplier clock) {
        this.clock = clock;
        this.busy = new Level(clock.getAsLong());
    }

    synchronized void begin() {
        busy.change(clock.getAsLong(), 1);
    }

    synchronized void end(int status) {
        busy.change(clock.getAsLong(), -1);
        completed++;
        if (status >= 400) {
            refused++;
        }
    }

    @Override
    public synchronized long getBusy() {
        return busy.value();
    }

    @Override
    public synchronized double getBusySeconds() {
        return busy.seconds(clock.getAsLong());
    }

    @Override
    public synchronized long getCompleted() {
        return completed;
    }

    @Override
    public synchronized long getRefused() {
        return refused;
    }
}
