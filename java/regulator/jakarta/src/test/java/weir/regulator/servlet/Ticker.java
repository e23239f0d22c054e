package weir.regulator.servlet;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import weir.regulator.Checkpoint;

/** Comes to a checkpoint on a thread of somebody else's pool, with no work begun there, as {@code AsyncContext.start} would. */
public final class Ticker extends HttpServlet {
    /** The attribute with the pool, which outlives the application. */
    static final String POOL = "pool";
    static final int TICKS = 200;

    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        ExecutorService pool = (ExecutorService) getServletContext().getAttribute(POOL);
        Checkpoint checkpoint = Checkpoint.of("redeployed");
        try {
            pool.submit(() -> {
                for (int tick = 0; tick < TICKS; tick++) {
                    checkpoint.tick(1);
                }
            }).get();
        } catch (ExecutionException | InterruptedException e) {
            throw new IOException(e);
        }
        // With the request's own work, too.
        checkpoint.tick(1);
        response.getWriter().print("ticked in " + Ticker.class.getClassLoader().hashCode());
    }
}
