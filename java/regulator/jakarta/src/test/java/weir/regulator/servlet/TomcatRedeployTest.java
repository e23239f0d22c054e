package weir.regulator.servlet;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

class TomcatRedeployTest extends RedeployContract {
    /** Kept, because loggers that nobody keeps forget their level. */
    private static final Logger LOGGER = Logger.getLogger("org.apache");

    private final Tomcat tomcat = new Tomcat();
    private StandardContext context;

    @Override
    int start(Path directory) throws Exception {
        LOGGER.setLevel(Level.OFF);
        Files.createDirectories(directory.resolve("webapps"));
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        tomcat.start();
        return connector.getLocalPort();
    }

    @Override
    ClassLoader deploy(Path classes, ExecutorService pool) {
        context = new StandardContext();
        context.setName("/app");
        context.setPath("/app");
        context.setDocBase(classes.getParent().getParent().toString());
        context.addLifecycleListener(new Tomcat.FixContextListener());
        Tomcat.addServlet(context, "ticker", Ticker.class.getName());
        context.addServletMappingDecoded("/tick", "ticker");
        FilterDef definition = new FilterDef();
        definition.setFilterName("regulator");
        definition.setFilterClass(RegulatorFilter.class.getName());
        definition.addInitParameter("class.all.urls", "/*");
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName("regulator");
        map.addURLPattern("/*");
        context.addFilterMap(map);
        tomcat.getHost().addChild(context);
        context.getServletContext().setAttribute(Ticker.POOL, pool);
        return context.getLoader().getClassLoader();
    }

    @Override
    void undeploy() throws Exception {
        tomcat.getHost().removeChild(context);
        context.destroy();
        context = null;
    }

    @Override
    void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }
}
