package weir.regulator.servlet;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import weir.regulator.Entry;
import weir.regulator.limit.Why;

/** Answers to requests that are rejected: the same as the gateway's. */
final class Refusals {
    /** RFC 6585, 4. */
    private static final int TOO_MANY_REQUESTS = 429;
    private static final double NANOS_PER_S = 1e9;

    private Refusals() {}

    /** 429 for too high a rate, 503 for everything else, with {@code Retry-After} in whole seconds, rounded up. */
    static void refuse(Entry entry, HttpServletResponse response) throws IOException {
        boolean isRate = entry.why() == Why.RATE;
        long afterS = Math.max(1, (long) Math.ceil(entry.retryAfterNs() / NANOS_PER_S));
        response.setStatus(isRate ? TOO_MANY_REQUESTS : HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        response.setHeader("Retry-After", Long.toString(afterS));
        response.setContentType("text/plain;charset=utf-8");
        byte[] body = (text(entry.why()) + "; try again in " + afterS + " s\n").getBytes(StandardCharsets.UTF_8);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private static String text(Why why) {
        switch (why) {
            case RATE:
                return "too many requests per second";
            case CONCURRENCY:
                return "too many requests at a time";
            case QUEUE_FULL:
                return "too many requests wait";
            default:
                return "the request has waited for too long";
        }
    }
}
