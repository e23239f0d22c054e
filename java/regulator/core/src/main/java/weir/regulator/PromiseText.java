package weir.regulator;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import weir.regulator.limit.Promise;

/** A promise as people write it: {@code p99 <= 50 ms}, or {@code throughput >= 95 % of alone}. */
final class PromiseText {
    private static final Pattern RESPONSE = Pattern.compile("p([0-9]{1,2}(?:\\.[0-9]+)?)\\s*<=\\s*(.+)");
    private static final Pattern THROUGHPUT = Pattern.compile("throughput\\s*>=\\s*([0-9.]+\\s*%)\\s*of\\s+alone");

    /** Of response times, or null. */
    final Promise response;
    /** Of throughput, as a share of that alone, or NaN. */
    final double throughput;

    private PromiseText(Promise response, double throughput) {
        this.response = response;
        this.throughput = throughput;
    }

    static PromiseText parse(String text) {
        Matcher response = RESPONSE.matcher(text.trim());
        if (response.matches()) {
            double share = Quantity.percents(response.group(1));
            return new PromiseText(new Promise(share, Quantity.nanos(response.group(2))), Double.NaN);
        }
        Matcher throughput = THROUGHPUT.matcher(text.trim());
        if (throughput.matches()) {
            return new PromiseText(null, Quantity.share(throughput.group(1)));
        }
        throw new IllegalArgumentException(
                "'" + text + "' is no promise; write p99 <= 50 ms, or throughput >= 95 % of alone");
    }

    @Override
    public boolean equals(Object object) {
        return object instanceof PromiseText
                && Objects.equals(((PromiseText) object).response, response)
                && Double.compare(((PromiseText) object).throughput, throughput) == 0;
    }

    @Override
    public int hashCode() {
        return Objects.hash(response, throughput);
    }
}
