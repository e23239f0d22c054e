package weir.regulator.limit;

/** What happened between two decisions of an adaptive limit. */
final class Window {
    /** A window that is over. */
    static final class Seen {
        double seconds;
        /** Mean number in flight. */
        double inFlight;
        /** Share of the time in which somebody waited whom only the limit held back. */
        double pressed;
        /** Requests that ended with a response. */
        int completed;
        /** Mean of their response times; 0 without any. */
        double responseS;

        /** Requests that ended with a response, a second. */
        double perS() {
            return completed / Math.max(seconds, 1e-9);
        }
    }

    private long began;
    private long at;
    private int inFlight;
    private boolean pressed;
    private double inFlightS;
    private double pressedS;
    private int completed;
    private double responseS;

    Window(long now) {
        began = now;
        at = now;
    }

    /** How things stand from now on. */
    void stands(int inFlight, boolean pressed, long now) {
        advance(now);
        this.inFlight = inFlight;
        this.pressed = pressed;
    }

    void finished(Sample sample) {
        if (sample.kind == Kind.COMPLETED) {
            completed++;
            responseS += Seconds.of(sample.responseNs);
        }
    }

    /** Whether somebody waits for the limit now. */
    boolean isPressed() {
        return pressed;
    }

    double seconds(long now) {
        return Seconds.of(Seconds.since(began, now));
    }

    int completed() {
        return completed;
    }

    /** Ends the window and begins the next. */
    Seen close(long now) {
        advance(now);
        Seen seen = new Seen();
        seen.seconds = seconds(now);
        seen.inFlight = seen.seconds > 0 ? inFlightS / seen.seconds : 0;
        seen.pressed = seen.seconds > 0 ? pressedS / seen.seconds : 0;
        seen.completed = completed;
        seen.responseS = responseS / Math.max(completed, 1);
        began = now;
        inFlightS = 0;
        pressedS = 0;
        completed = 0;
        responseS = 0;
        return seen;
    }

    private void advance(long now) {
        double elapsed = Seconds.of(Seconds.since(at, now));
        inFlightS += elapsed * inFlight;
        if (pressed) {
            pressedS += elapsed;
        }
        at = now;
    }
}
