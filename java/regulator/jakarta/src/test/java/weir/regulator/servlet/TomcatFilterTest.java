package weir.regulator.servlet;

import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.io.TempDir;

class TomcatFilterTest extends FilterContract {
    /** Kept, because loggers that nobody keeps forget their level. */
    private static final Logger LOGGER = Logger.getLogger("org.apache");

    private final Tomcat tomcat = new Tomcat();

    @TempDir
    Path directory;

    @Override
    int start(RegulatorFilter filter, Endings servlet) throws LifecycleException {
        LOGGER.setLevel(Level.OFF);
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", directory.toString());
        Wrapper wrapper = Tomcat.addServlet(context, "endings", servlet);
        wrapper.setAsyncSupported(true);
        context.addServletMappingDecoded("/", "endings");
        FilterDef definition = new FilterDef();
        definition.setFilterName("regulator");
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName("regulator");
        map.addURLPattern("/*");
        map.setDispatcher("REQUEST");
        map.setDispatcher("ASYNC");
        context.addFilterMap(map);
        tomcat.start();
        return connector.getLocalPort();
    }

    @Override
    void stop() throws LifecycleException {
        tomcat.stop();
        tomcat.destroy();
    }
}
