package weir.regulator.servlet;

import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

class JettyFilterTest extends FilterContract {
    private final Server server = new Server();

    @Override
    int start(RegulatorFilter filter, Endings servlet) throws Exception {
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        context.setContextPath("/");
        ServletHolder endings = new ServletHolder(servlet);
        endings.setAsyncSupported(true);
        context.addServlet(endings, "/");
        FilterHolder regulator = new FilterHolder(filter);
        regulator.setAsyncSupported(true);
        context.addFilter(regulator, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        server.setHandler(context);
        server.start();
        return connector.getLocalPort();
    }

    @Override
    void stop() throws Exception {
        server.stop();
    }
}
