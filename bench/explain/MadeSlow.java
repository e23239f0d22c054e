import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A server that is slow for a reason that is known: for the made cases of {@code weir explain}.
 *
 * <pre>java MadeSlow.java PORT THREADS [BEHIND [IDLE]]</pre>
 *
 * <p>Each path is slow in its own way: {@code /light} is not, {@code /cpu} computes for a few milliseconds, {@code /lock} waits
 * for the one monitor that everybody needs, {@code /garbage} allocates beside a large live set, {@code /fsync} waits for the
 * disk, {@code /sleep} sleeps, {@code /away} asks the server at the port BEHIND for {@code /sleep}, {@code /mapped} reads
 * pages of a file that is larger than the memory which a control group leaves. {@code /metrics} tells how many requests have
 * one of the THREADS places and how many wait for one; it needs none itself. IDLE threads have nothing to do and look for it
 * once a second.
 */
final class MadeSlow {
    /** Bytes that stay alive, so that every full collection has to walk through them: three fifths of a heap of 160 MB. */
    private static final int LIVE_BYTES = 96 << 20;
    private static final int BLOCK_BYTES = 1 << 10;
    /** What a request to {@code /garbage} leaves behind. */
    private static final int GARBAGE_BYTES = 2 << 20;
    private static final int COMPUTED = 2_000_000;
    private static final long HELD_MS = 5;
    private static final int WRITTEN_BYTES = 4096;
    /** Blocks that a request makes durable, one after the other. */
    private static final int COMMITS = 8;

    private static final int SLEEP_MS = 20;
    private static final int MAPPED_BYTES = 600 << 20;
    /** Pages that a request to {@code /mapped} reads. */
    private static final int PAGES_READ = 8;
    private static final int PAGE_BYTES = 4096;
    private static final int IDLE_MS = 1000;

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int behind;
    private volatile MappedByteBuffer mapped;
    private final Object lock = new Object();
    private final Semaphore places;
    private final int limit;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger busy = new AtomicInteger();
    private final LongAdder entries = new LongAdder();
    private volatile Object[] live = new Object[0];
    private volatile Object last;

    private MadeSlow(int limit, int behind) {
        this.behind = behind;
        this.limit = limit;
        this.places = new Semaphore(limit, true);
    }

    public static void main(String[] arguments) throws IOException {
        // Without it every answer waits 40 ms for an acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        int port = Integer.parseInt(arguments[0]);
        int behind = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        MadeSlow made = new MadeSlow(Integer.parseInt(arguments[1]), behind);
        int idle = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 0;
        for (int at = 0; at < idle; at++) {
            Thread thread = new Thread(MadeSlow::look, "idle");
            thread.setDaemon(true);
            thread.start();
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 511);
        server.setExecutor(Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, "worker");
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", made::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        try {
            send(exchange, 200, path.equals("/metrics") ? metrics() : inPlace(path));
        } catch (IllegalArgumentException unknown) {
            send(exchange, 404, unknown.getMessage());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private String inPlace(String path) throws IOException, InterruptedException {
        waiting.incrementAndGet();
        places.acquire();
        waiting.decrementAndGet();
        busy.incrementAndGet();
        entries.increment();
        try {
            return work(path);
        } finally {
            busy.decrementAndGet();
            places.release();
        }
    }

    private String work(String path) throws IOException, InterruptedException {
        switch (path) {
            case "/light":
                return "light\n";
            case "/cpu":
                return compute() + "\n";
            case "/lock":
                synchronized (lock) {
                    Thread.sleep(HELD_MS);
                }
                return "held\n";
            case "/garbage":
                return allocate() + " blocks alive\n";
            case "/fsync":
                return store() + " bytes stored\n";
            case "/sleep":
                Thread.sleep(SLEEP_MS);
                return "slept\n";
            case "/away":
                return away();
            case "/mapped":
                return read() + "\n";
            default:
                throw new IllegalArgumentException(
                        "there are /light, /cpu, /lock, /garbage, /fsync, /sleep, /away, /mapped and /metrics\n");
        }
    }

    private static void look() {
        try {
            while (true) {
                Thread.sleep(IDLE_MS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private String away() throws IOException, InterruptedException {
        URI there = URI.create("http://127.0.0.1:" + behind + "/sleep");
        return client.send(HttpRequest.newBuilder(there).build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    private int read() throws IOException {
        if (mapped == null) {
            synchronized (this) {
                if (mapped == null) {
                    mapped = written();
                }
            }
        }
        int sum = 0;
        for (int page = 0; page < PAGES_READ; page++) {
            int at = ThreadLocalRandom.current().nextInt(MAPPED_BYTES / PAGE_BYTES);
            sum += mapped.get(at * PAGE_BYTES);
        }
        return sum;
    }

    /** A file of random bytes, which no storage can leave out; it has no name any more. */
    private static MappedByteBuffer written() throws IOException {
        Path file = Files.createTempFile(Path.of(""), "made-slow", ".data");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            byte[] block = new byte[1 << 20];
            ThreadLocalRandom.current().nextBytes(block);
            for (int at = 0; at < MAPPED_BYTES; at += block.length) {
                channel.write(ByteBuffer.wrap(block));
            }
            channel.force(true);
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, MAPPED_BYTES);
        } finally {
            Files.delete(file);
        }
    }

    private static long compute() {
        long value = System.nanoTime();
        for (int step = 0; step < COMPUTED; step++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        return value;
    }

    private int allocate() {
        if (live.length == 0) {
            synchronized (this) {
                if (live.length == 0) {
                    live = blocks(LIVE_BYTES);
                }
            }
        }
        last = blocks(GARBAGE_BYTES);
        return live.length;
    }

    private static Object[] blocks(int bytes) {
        Object[] blocks = new Object[bytes / BLOCK_BYTES];
        for (int at = 0; at < blocks.length; at++) {
            blocks[at] = new byte[BLOCK_BYTES];
        }
        return blocks;
    }

    /** A new file each time, made durable as a database makes its log. */
    private static int store() throws IOException {
        Path file = Files.createTempFile(Path.of(""), "made-slow", ".data");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            int written = 0;
            for (int commit = 0; commit < COMMITS; commit++) {
                written += channel.write(ByteBuffer.allocate(WRITTEN_BYTES));
                channel.force(true);
            }
            return written;
        } finally {
            Files.delete(file);
        }
    }

    /** As Weir reads it without being told how. */
    private String metrics() {
        return "weir_stage_limit{stage=\"threads\"} " + limit + "\nweir_stage_occupancy{stage=\"threads\"} " + busy
                + "\nweir_stage_waiting{stage=\"request-queue\"} " + waiting
                + "\nweir_stage_entries_total{stage=\"threads\"} " + entries + "\n";
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
