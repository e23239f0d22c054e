package weir.hour;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import javax.naming.NamingException;
import javax.sql.DataSource;

/** {@code /work?cpu=2&pause=50}: a request that does what it says, in that order. */
public final class HourServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient Work work;

    /** With the pool of the server it runs in. */
    public HourServlet() {
        this(null);
    }

    /** With a pool. */
    public HourServlet(DataSource pool) {
        this.work = new Work(pool);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        long done = 0;
        String query = request.getQueryString();
        for (String part : query == null ? new String[0] : query.split("&")) {
            String[] named = part.split("=", 2);
            try {
                done += work.does(named[0], Integer.parseInt(named[1]));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new ServletException(interrupted);
            } catch (SQLException | NamingException failed) {
                throw new ServletException(failed);
            }
        }
        response.setContentType("text/plain");
        response.getWriter().println(done);
    }
}
