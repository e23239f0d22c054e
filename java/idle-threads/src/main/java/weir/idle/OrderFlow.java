package weir.idle;

import javax.xml.transform.TransformerException;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;

/**
 * A flow: an order comes in, the provider is asked for prices, the customer gets an answer. Both messages are mapped by stylesheets.
 *
 * <p>Its time runs from an instance taking the message to the answer being there: waiting for an instance is left out, as it is in the
 * statistics of integration servers.
 */
final class OrderFlow extends RouteBuilder {
    private static final String TAKEN_AT = "takenAtNs";
    private static final String CONTENT_TYPE = "text/xml;charset=UTF-8";
    private static final Mapping TO_PRICES = new Mapping("order-to-prices.xsl");
    private static final Mapping TO_ANSWER = new Mapping("prices-to-answer.xsl");

    /** Hears how long a message took. */
    @FunctionalInterface
    interface Done {
        void in(long tookNs, boolean failed);
    }

    private final String from;
    private final int provider;
    private final Runnable taken;
    private final Done done;

    /** A flow that takes messages from this endpoint. {@code taken} is run by the instance that has taken one. */
    OrderFlow(String from, int provider, Runnable taken, Done done) {
        this.from = from;
        this.provider = provider;
        this.taken = taken;
        this.done = done;
    }

    @Override
    public void configure() {
        onException(Exception.class).handled(true).process(this::refuse);
        from(from)
                .process(this::ask)
                // What came with the order is not for the provider.
                .removeHeaders("*")
                .process(exchange -> {
                    exchange.getMessage().setHeader(Exchange.CONTENT_TYPE, CONTENT_TYPE);
                    exchange.getMessage().setHeader(Exchange.HTTP_METHOD, "POST");
                })
                .to("http://127.0.0.1:" + provider + Provider.PATH)
                .removeHeaders("*")
                .process(this::answer);
    }

    private void ask(Exchange exchange) throws TransformerException {
        exchange.setProperty(TAKEN_AT, System.nanoTime());
        taken.run();
        Message message = exchange.getMessage();
        message.setBody(TO_PRICES.apply(message.getBody(byte[].class)));
    }

    private void answer(Exchange exchange) throws TransformerException {
        byte[] prices = exchange.getMessage().getBody(byte[].class);
        put(exchange, 200, TO_ANSWER.apply(prices));
        finish(exchange, false);
    }

    private void refuse(Exchange exchange) {
        Exception why = exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class);
        exchange.getMessage().removeHeaders("*");
        put(exchange, 500, Soap.fault(String.valueOf(why.getMessage())));
        finish(exchange, true);
    }

    private static void put(Exchange exchange, int status, byte[] body) {
        Message message = exchange.getMessage();
        message.setHeader(Exchange.CONTENT_TYPE, CONTENT_TYPE);
        message.setHeader(Exchange.HTTP_RESPONSE_CODE, status);
        message.setBody(body);
    }

    private void finish(Exchange exchange, boolean failed) {
        Long takenAtNs = exchange.getProperty(TAKEN_AT, Long.class);
        done.in(System.nanoTime() - takenAtNs, failed);
    }
}
