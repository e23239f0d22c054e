package weir.regulator.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import weir.regulator.Entry;
import weir.regulator.limit.Kind;

/** Finishes a request when its asynchronous work is over: when the container says so, or has forgotten it without a word. */
final class Completion implements AsyncListener {
    private static final int SERVER_ERROR = 500;
    /** Containers may look for time-outs only now and then, Tomcat every second. */
    private static final long TIMEOUT_LATE_NS = 5_000_000_000L;

    private final Entry entry;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    /** Whether it is forgotten. */
    private volatile Future<?> looks;
    /** Whose time-out is to be told; null before it is known, and once it was told. */
    private volatile AsyncContext context;
    /** When that began, as of {@link System#nanoTime}. */
    private volatile long since;
    /** What went wrong before the end, or null. */
    private volatile Kind wrong;

    private Completion(Entry entry, HttpServletRequest request, HttpServletResponse response) {
        this.entry = entry;
        this.request = request;
        this.response = response;
    }

    /** Waits for the end of asynchronous work; says whether there is still one to wait for. */
    static boolean await(Entry entry, HttpServletRequest request, HttpServletResponse response, Lookout lookout) {
        Completion completion = new Completion(entry, request, response);
        // First, so that an end that is told at once finds something to cancel.
        completion.looks = lookout.keep(completion::look);
        try {
            completion.follow(request.getAsyncContext());
            return true;
        } catch (IllegalStateException e) {
            // It has ended between the question and the answer.
            completion.looks.cancel(false);
            return false;
        }
    }

    /** How a request with this response has ended. */
    static Kind kind(HttpServletResponse response) {
        return response.getStatus() >= SERVER_ERROR ? Kind.FAILED : Kind.COMPLETED;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        end(wrong == null ? kind(response) : wrong);
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // The application may still answer, as late as this is; where it does not, the container does, with 500.
        context = null;
    }

    @Override
    public void onError(AsyncEvent event) {
        wrong = event.getThrowable() instanceof IOException ? Kind.ABANDONED : Kind.FAILED;
    }

    /** The request goes on once more; listeners are forgotten then, unless they are added again. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        AsyncContext again = event.getAsyncContext();
        if (again != null) {
            follow(again);
        }
    }

    private void end(Kind kind) {
        looks.cancel(false);
        entry.finish(kind);
    }

    private void follow(AsyncContext work) {
        since = System.nanoTime();
        context = work;
        work.addListener(this);
    }

    private void look() {
        if (isForgotten()) {
            // That happens where a client has left.
            end(wrong == null ? Kind.ABANDONED : wrong);
        }
    }

    /** Containers use their objects again for other requests or let go of them, or no longer know of a time-out. */
    private boolean isForgotten() {
        try {
            return RegulatorFilter.entry(request) != entry || isOverdue();
        } catch (RuntimeException e) {
            // There are no attributes without a request: IllegalStateException, or what the container runs into.
            return true;
        }
    }

    /** The application says how long it may take only after it has begun, so that it is asked each time. */
    private boolean isOverdue() {
        AsyncContext work = context;
        if (work == null || !request.isAsyncStarted()) {
            return false;
        }
        long timeoutMs = work.getTimeout();
        return timeoutMs > 0 && System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(timeoutMs) + TIMEOUT_LATE_NS;
    }
}
