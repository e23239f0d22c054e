package weir.idle;

import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.jetty.JettyHttpComponent;

/** Jetty, from whose threads requests go into the measured flow's queue, and the flow's instances behind it. */
final class JettyEntrance implements Entrance {
    /** As the published server had it. */
    private static final int THREADS_MAX = 360;
    private static final int THREADS_MIN = 8;
    private static final int ANSWER_WITHIN_MS = 20_000;

    private final int port;
    private final CamelContext context;
    private final Pages pages;
    private final int instances;
    private final ProducerTemplate template;

    JettyEntrance(Settings settings, CamelContext context, Pages pages) throws java.io.IOException {
        this.port = settings.port() == 0 ? FreePort.find() : settings.port();
        this.context = context;
        this.pages = pages;
        this.instances = settings.instances();
        this.template = context.createProducerTemplate();
    }

    @Override
    public void open() throws Exception {
        JettyHttpComponent jetty = context.getComponent("jetty", JettyHttpComponent.class);
        jetty.setMinThreads(THREADS_MIN);
        jetty.setMaxThreads(THREADS_MAX);
        jetty.setSendServerVersion(false);
        String address = "jetty:http://127.0.0.1:" + port;
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("seda:orders?concurrentConsumers=" + instances).to(Server.ORDER);
                from(address + CONSUMER)
                        // The stream belongs to Jetty's thread: another one gets the bytes.
                        .process(exchange -> exchange.getMessage().setBody(exchange.getMessage().getBody(byte[].class)))
                        .to("seda:orders?waitForTaskToComplete=Always&timeout=" + ANSWER_WITHIN_MS);
                from(address + Pages.READY).process(exchange -> show(exchange, Pages.READY));
                from(address + Pages.METRICS).process(exchange -> show(exchange, Pages.METRICS));
            }
        });
    }

    private void show(Exchange exchange, String path) {
        Pages.Page page = pages.at(path);
        exchange.getMessage().removeHeaders("*");
        exchange.getMessage().setHeader(Exchange.CONTENT_TYPE, "text/plain;charset=UTF-8");
        exchange.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, page.status());
        exchange.getMessage().setBody(page.text());
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void work(byte[] order) {
        template.requestBody(Server.ORDER, order);
    }

    @Override
    public void close() {
        // Its routes end with the context.
    }
}
