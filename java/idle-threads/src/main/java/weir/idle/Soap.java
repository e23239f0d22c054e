package weir.idle;

import java.nio.charset.StandardCharsets;

/** SOAP 1.1 messages that are written here. */
final class Soap {
    private static final String BEFORE = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>";
    private static final String AFTER = "</soap:Body></soap:Envelope>";

    private Soap() {}

    private static byte[] message(String body) {
        return (BEFORE + body + AFTER).getBytes(StandardCharsets.UTF_8);
    }

    /** What is answered to a message that cannot be worked on. */
    static byte[] fault(String why) {
        String text = why.replace("&", "&amp;").replace("<", "&lt;");
        return message("<soap:Fault><faultcode>soap:Server</faultcode><faultstring>" + text + "</faultstring></soap:Fault>");
    }

    /** An order with so many lines; line n asks for n pieces. */
    static byte[] order(int lines) {
        StringBuilder order = new StringBuilder("<placeOrder xmlns=\"urn:weir:orders\"><customer>17</customer>");
        for (int line = 1; line <= lines; line++) {
            order.append("<line><article>A-").append(line).append("</article><pieces>").append(line).append("</pieces></line>");
        }
        return message(order.append("</placeOrder>").toString());
    }

    /** The provider's answer: prices of so many articles; article n costs n. */
    static byte[] prices(int articles) {
        StringBuilder prices = new StringBuilder("<prices xmlns=\"urn:weir:prices\">");
        for (int article = 1; article <= articles; article++) {
            prices.append("<price article=\"A-").append(article).append("\">").append(article).append("</price>");
        }
        return message(prices.append("</prices>").toString());
    }
}
