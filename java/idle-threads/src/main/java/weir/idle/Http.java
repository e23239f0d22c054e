package weir.idle;

import org.apache.camel.CamelContext;
import org.apache.camel.component.http.HttpComponent;

/** The HTTP client of a context's flows. */
final class Http {
    /** As many as flows can ask at a time: a connection is never what a flow waits for. */
    private static final int CONNECTIONS = 200;

    private Http() {}

    static void prepare(CamelContext context) {
        HttpComponent http = context.getComponent("http", HttpComponent.class);
        http.setConnectionsPerRoute(CONNECTIONS);
        http.setMaxTotalConnections(CONNECTIONS);
    }
}
