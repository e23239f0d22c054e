package weir.regulator.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;

/** A servlet that ends in every way there is: the path says which. */
final class Endings extends HttpServlet {
    private static final long serialVersionUID = 1;

    /** Lets {@code /held} and {@code /async-held} go on. */
    final transient CountDownLatch go = new CountDownLatch(1);
    /** One of those that last has come. */
    final transient CountDownLatch here = new CountDownLatch(1);

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getServletPath()) {
            case "/return":
                response.getOutputStream().println("here you are");
                break;
            case "/exception":
                throw new IllegalArgumentException("on purpose");
            case "/error":
                throw new AssertionError("on purpose");
            case "/refused":
                response.sendError(HttpServletResponse.SC_BAD_GATEWAY);
                break;
            case "/async":
                async(request);
                break;
            case "/async-dispatch":
                dispatch(request, response);
                break;
            case "/async-timeout":
                request.startAsync().setTimeout(50);
                break;
            case "/late/async-answered":
                answeredAtItsTimeOut(request);
                break;
            case "/late/async-unanswered":
                request.startAsync().setTimeout(50);
                break;
            case "/async-exception":
                request.startAsync().setTimeout(60_000);
                throw new IllegalArgumentException("on purpose, with work under way");
            case "/async-error":
                asyncError(request);
                break;
            case "/held":
                here.countDown();
                held();
                break;
            case "/endless":
                endless(response);
                break;
            case "/async-held":
                asyncHeld(request);
                break;
            case "/async-endless":
                asyncEndless(request, 60_000);
                break;
            case "/many/async-endless":
                asyncEndless(request, 1_000);
                break;
            default:
                response.sendError(HttpServletResponse.SC_NOT_FOUND);
        }
    }

    private static void async(HttpServletRequest request) {
        AsyncContext context = request.startAsync();
        context.setTimeout(60_000);
        context.start(context::complete);
    }

    /** Comes by again on the way, as a request that is handed back to the container. */
    private static void dispatch(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getAttribute("again") != null) {
            response.getOutputStream().println("again");
            return;
        }
        request.setAttribute("again", true);
        AsyncContext context = request.startAsync();
        context.setTimeout(60_000);
        context.start(context::dispatch);
    }

    /** As an application that has an answer for when it takes too long, such as a default value of Spring's. */
    private static void answeredAtItsTimeOut(HttpServletRequest request) {
        AsyncContext context = request.startAsync();
        context.setTimeout(50);
        context.addListener(new AsyncListener() {
            @Override
            public void onTimeout(AsyncEvent event) throws IOException {
                context.getResponse().getOutputStream().println("the usual");
                context.complete();
            }

            @Override
            public void onComplete(AsyncEvent event) {
                // It was here that it ended.
            }

            @Override
            public void onError(AsyncEvent event) {
                // There is none.
            }

            @Override
            public void onStartAsync(AsyncEvent event) {
                // It is not started again.
            }
        });
    }

    private static void asyncError(HttpServletRequest request) {
        AsyncContext context = request.startAsync();
        context.setTimeout(60_000);
        context.start(() -> {
            try {
                ((HttpServletResponse) context.getResponse()).sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            } finally {
                context.complete();
            }
        });
    }

    private void held() throws IOException {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void asyncHeld(HttpServletRequest request) {
        AsyncContext context = request.startAsync();
        context.setTimeout(60_000);
        context.start(() -> {
            here.countDown();
            try {
                held();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            } finally {
                context.complete();
            }
        });
    }

    /** Endless from another thread. */
    private void asyncEndless(HttpServletRequest request, long timeOutMs) {
        AsyncContext context = request.startAsync();
        context.setTimeout(timeOutMs);
        context.start(() -> {
            try {
                endless((HttpServletResponse) context.getResponse());
            } catch (IOException gone) {
                complete(context);
            }
        });
    }

    private static void complete(AsyncContext context) {
        try {
            context.complete();
        } catch (IllegalStateException | NullPointerException e) {
            // The container has ended it already; Tomcat does not always say so in the way it means to.
        }
    }

    /** Writes until the client is gone. */
    private void endless(HttpServletResponse response) throws IOException {
        OutputStream out = response.getOutputStream();
        byte[] kilobytes = new byte[64 * 1024];
        while (true) {
            out.write(kilobytes);
            out.flush();
            here.countDown();
        }
    }
}
