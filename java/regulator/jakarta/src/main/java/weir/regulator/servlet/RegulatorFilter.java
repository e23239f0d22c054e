package weir.regulator.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import weir.regulator.Entry;
import weir.regulator.Regulator;
import weir.regulator.RegulatorBean;
import weir.regulator.Settings;
import weir.regulator.Work;
import weir.regulator.limit.Kind;

/**
 * Sends each request through a {@link Regulator}: it waits, is refused with 429 or 503 and {@code Retry-After}, or goes on, and
 * gives back what it took once, however it ends: with a return, an exception, an error, the end of asynchronous work, its
 * time-out, or a client that leaves. Containers notice that a client has left asynchronous work only when something is written
 * to it, or at the time-out. Where they forget the request then without a word, it is finished about a second later.
 *
 * <p>Settings are the filter's initialization parameters; system properties with the same names behind {@code weir.regulator.} go
 * before them. To be mapped to {@code /*} before other filters, with {@code async-supported}.
 */
public final class RegulatorFilter implements Filter {
    private static final Logger LOGGER = System.getLogger("weir.regulator");
    private static final String ENTRY = RegulatorFilter.class.getName() + ".entry";

    private final Regulator regulator;
    /** How often it is looked whether the container still has a request. */
    private final Duration every;
    /** The settings of this filter's parameters; null without any. */
    private Settings lent;
    private RegulatorBean bean;
    private Lookout lookout;

    /** With the regulator that checkpoints use. */
    public RegulatorFilter() {
        this(Regulator.shared());
    }

    /** With a regulator of the caller's; parameters of the filter, if there are any, become its settings. */
    public RegulatorFilter(Regulator regulator) {
        this(regulator, Duration.ofSeconds(1));
    }

    RegulatorFilter(Regulator regulator, Duration every) {
        this.regulator = regulator;
        this.every = every;
    }

    @Override
    public void init(FilterConfig config) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : Collections.list(config.getInitParameterNames())) {
            values.put(name, config.getInitParameter(name));
        }
        if (!values.isEmpty()) {
            lent = Settings.of(values, System.getProperties());
            regulator.lend(lent);
        }
        String path = config.getServletContext().getContextPath();
        String name = path.isEmpty() ? "/" : path;
        LOGGER.log(Level.INFO, "the regulator of " + name + (regulator.isOn() ? " holds " + regulator.settings().values() : " is off"));
        bean = RegulatorBean.register(regulator, name);
        lookout = new Lookout(every);
    }

    /** Takes back the settings of its parameters, if nobody has changed them since: others may use the regulator, too. */
    @Override
    public void destroy() {
        if (lent != null) {
            regulator.takeBack(lent);
            lent = null;
        }
        if (bean != null) {
            bean.close();
            lookout.close();
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Entry entry = entry(request);
        if (entry != null) {
            // A request comes by again on its way to another servlet, or when asynchronous work hands it back.
            try (Work.Bound bound = entry.work().bind()) {
                chain.doFilter(request, response);
            }
        } else if (regulator.isOn() && isNew(request)) {
            enter((HttpServletRequest) request, (HttpServletResponse) response, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    /** Of a request that has come by, or null. */
    static Entry entry(ServletRequest request) {
        return (Entry) request.getAttribute(ENTRY);
    }

    /** Whether it comes from a client, and not from an error page or another servlet. */
    private static boolean isNew(ServletRequest request) {
        return request instanceof HttpServletRequest && request.getDispatcherType() == DispatcherType.REQUEST;
    }

    private void enter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Entry entry;
        try {
            entry = regulator.enter(path(request));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "the server stops");
            return;
        }
        if (entry.isAdmitted()) {
            run(entry, request, response, chain);
        } else {
            Refusals.refuse(entry, response);
        }
    }

    private void run(Entry entry, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Kind kind = Kind.FAILED;
        boolean goesOn = false;
        try (Work.Bound bound = entry.work().bind()) {
            request.setAttribute(ENTRY, entry);
            chain.doFilter(request, response);
            goesOn = request.isAsyncStarted() && Completion.await(entry, request, response, lookout);
            kind = Completion.kind(response);
        } catch (IOException e) {
            // Reading from or writing to a client that has left.
            kind = response.isCommitted() ? Kind.ABANDONED : Kind.FAILED;
            throw e;
        } finally {
            if (!goesOn) {
                // First, since listeners of the application's may throw at the attribute.
                entry.finish(kind);
                request.removeAttribute(ENTRY);
            }
        }
    }

    /** Within the application, without query and path parameters. */
    private static String path(HttpServletRequest request) {
        String info = request.getPathInfo();
        return info == null ? request.getServletPath() : request.getServletPath() + info;
    }
}
