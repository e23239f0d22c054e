package weir.regulator.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import weir.regulator.Entry;
import weir.regulator.limit.Kind;

/** Finishes a request when its asynchronous work is over. */
final class Completion implements AsyncListener {
    private static final int SERVER_ERROR = 500;

    private final Entry entry;
    private final HttpServletResponse response;
    /** What went wrong before the end, or null. */
    private volatile Kind wrong;

    private Completion(Entry entry, HttpServletResponse response) {
        this.entry = entry;
        this.response = response;
    }

    /** Waits for the end of asynchronous work; says whether there is still one to wait for. */
    static boolean await(Entry entry, HttpServletRequest request, HttpServletResponse response) {
        try {
            request.getAsyncContext().addListener(new Completion(entry, response));
            return true;
        } catch (IllegalStateException e) {
            // It has ended between the question and the answer.
            return false;
        }
    }

    /** How a request with this response has ended. */
    static Kind kind(HttpServletResponse response) {
        return response.getStatus() >= SERVER_ERROR ? Kind.FAILED : Kind.COMPLETED;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        entry.finish(wrong == null ? kind(response) : wrong);
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        // The application may still answer, as late as this is; where it does not, the container does, with 500.
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
            again.addListener(this);
        }
    }
}
