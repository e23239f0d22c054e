package weir.regulator.servlet;

import jakarta.servlet.DispatcherType;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;

class JettyRedeployTest extends RedeployContract {
    private final Server server = new Server();
    private final ContextHandlerCollection contexts = new ContextHandlerCollection(true);
    private ServletContextHandler context;
    private URLClassLoader loader;

    @Override
    int start(Path directory) throws Exception {
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(contexts);
        server.start();
        return connector.getLocalPort();
    }

    @Override
    ClassLoader deploy(Path classes, ExecutorService pool) throws Exception {
        List<URL> urls = new ArrayList<>(List.of(classes.toUri().toURL()));
        Path libraries = classes.resolveSibling("lib");
        if (Files.isDirectory(libraries)) {
            try (Stream<Path> found = Files.list(libraries)) {
                for (Path jar : found.collect(Collectors.toList())) {
                    urls.add(jar.toUri().toURL());
                }
            }
        }
        loader = new URLClassLoader(urls.toArray(new URL[0]), new WithoutTheApplication());
        context = new ServletContextHandler();
        context.setContextPath("/app");
        context.setClassLoader(loader);
        context.setAttribute(Ticker.POOL, pool);
        context.addServlet(Ticker.class.getName(), "/tick");
        FilterHolder regulator =
                context.addFilter(RegulatorFilter.class.getName(), "/*", EnumSet.of(DispatcherType.REQUEST));
        regulator.setInitParameter("class.all.urls", "/*");
        contexts.addHandler(context);
        context.start();
        return loader;
    }

    @Override
    void undeploy() throws Exception {
        context.stop();
        contexts.removeHandler(context);
        context.destroy();
        loader.close();
        context = null;
        loader = null;
    }

    @Override
    void stop() throws Exception {
        server.stop();
    }

    /** The container's classes: the application has its own. */
    private static final class WithoutTheApplication extends ClassLoader {
        WithoutTheApplication() {
            super(JettyRedeployTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("weir.")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
