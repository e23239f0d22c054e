package weir.stress;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The application in a servlet container: paths to endpoints, answers onto the wire, counts into JMX.
 *
 * <p>The only class that knows the servlet API. Its fields are set once, before the first request.
 */
public final class StressServlet extends HttpServlet {
    private static final String DOMAIN = "weir.stress";

    private final transient Requests requests = new Requests(System::nanoTime);
    private final transient List<ObjectName> registered = new ArrayList<>();
    private final transient HeavyServer heavyServer = HeavyServer.named();
    private transient Map<String, Endpoint> endpoints;

    @Override
    public void init() throws ServletException {
        Pool pool = Pool.ofServer();
        try {
            Path directory = ((File) getServletContext().getAttribute(ServletContext.TEMPDIR)).toPath();
            endpoints = Map.of(
                    "/stress", new Stress(pool),
                    "/light", new Light(),
                    "/heavy", new Heavy(Catalogue.write(directory)),
                    "/heavy/numeric", new Numeric(),
                    "/heavy/disk", new Disk(directory),
                    "/posts", new Posts(pool));
            register(pool, DOMAIN + ":type=Pool,name=db");
            register(requests, DOMAIN + ":type=Requests");
        } catch (IOException | JMException e) {
            destroy();
            throw new ServletException("failed to start the stress application: " + e, e);
        }
    }

    private void register(Object bean, String name) throws JMException {
        ObjectName objectName = new ObjectName(name);
        ManagementFactory.getPlatformMBeanServer().registerMBean(bean, objectName);
        registered.add(objectName);
    }

    @Override
    public void destroy() {
        for (ObjectName name : registered) {
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
            } catch (JMException e) {
                log("failed to take back the MBean " + name, e);
            }
        }
        registered.clear();
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int status = 500;
        requests.begin();
        try {
            Answer answer = answer(request, response);
            status = answer.status();
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            response.setStatus(status);
            response.setContentType(answer.contentType());
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        } finally {
            requests.end(status);
        }
    }

    private Answer answer(HttpServletRequest request, HttpServletResponse response) {
        String path = request.getRequestURI().substring(request.getContextPath().length());
        Endpoint endpoint = endpoints.get(path.startsWith("/stress/") ? "/stress" : path);
        if (endpoint == null) {
            return Answer.refusal(404, "there is nothing here; the endpoints are /stress, /light, /heavy, /heavy/numeric, /heavy/disk and /posts");
        }
        if (!endpoint.methods().contains(request.getMethod())) {
            response.setHeader("Allow", String.join(", ", endpoint.methods()));
            return Answer.refusal(405, "use " + String.join(" or ", endpoint.methods()));
        }
        try {
            if (heavyServer != null && HeavyServer.takes(path)) {
                return heavyServer.answer(path, request.getQueryString());
            }
            return endpoint.answer(new Parameters(request.getParameterMap()));
        } catch (BadParameter e) {
            return Answer.refusal(400, e.getMessage());
        } catch (Unavailable e) {
            return Answer.refusal(e.status(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Answer.refusal(503, "the server stops");
        }
    }
}
