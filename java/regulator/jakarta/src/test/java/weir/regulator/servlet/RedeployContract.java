package weir.regulator.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import weir.regulator.Regulator;

/** An application with the regulator in it, deployed again and again in one container: nothing of it stays. */
@Timeout(180)
abstract class RedeployContract {
    private static final int ROUNDS = 20;
    private static final long MEGABYTE = 1_000_000;

    private final HttpClient client = HttpClient.newHttpClient();
    /** Its threads were there before any application, and know nothing of one. */
    private final ThreadPoolExecutor pool =
            new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());

    @TempDir
    Path directory;

    /** Starts a container without an application on a free port of 127.0.0.1. */
    abstract int start(Path directory) throws Exception;

    /**
     * Deploys an application at {@code /app}: {@link RegulatorFilter} by its name, with the parameter {@code class.all.urls=/*}, and
     * {@link Ticker} by its name, with the pool as attribute. Its classes are those of the folder.
     *
     * @return the class loader of the application
     */
    abstract ClassLoader deploy(Path classes, ExecutorService pool) throws Exception;

    abstract void undeploy() throws Exception;

    abstract void stop() throws Exception;

    @AfterEach
    void end() throws Exception {
        stop();
        pool.shutdownNow();
    }

    @Test
    void nothingOfAnApplicationStaysWhenItIsDeployedAgain() throws Exception {
        pool.prestartAllCoreThreads();
        Path classes = Files.createDirectories(directory.resolve("app/WEB-INF/classes"));
        for (Class<?> of : List.of(Regulator.class, RegulatorFilter.class, Ticker.class)) {
            copy(of, classes);
        }
        int port = start(directory);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        long early = 0;
        for (int round = 0; round < ROUNDS; round++) {
            loaders.add(deployOnce(classes, port));
            if (round == ROUNDS / 4) {
                early = used();
            }
        }
        // The last may be where the container last looked.
        List<Integer> left = leftOf(loaders.subList(0, ROUNDS - 1));
        assertEquals(List.of(), left, "applications that are still in memory");
        long grown = used() - early;
        assertTrue(grown < 2 * MEGABYTE, grown + " bytes more than after the first quarter");
    }

    private WeakReference<ClassLoader> deployOnce(Path classes, int port) throws Exception {
        ClassLoader loader = deploy(classes, pool);
        assertNotSame(Regulator.class, loader.loadClass(Regulator.class.getName()), "the application has classes of its own");
        for (int request = 0; request < 3; request++) {
            HttpRequest asked =
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/app/tick")).build();
            HttpResponse<String> answer = client.send(asked, HttpResponse.BodyHandlers.ofString());
            assertEquals("ticked in " + loader.hashCode(), answer.body());
        }
        undeploy();
        return new WeakReference<>(loader);
    }

    /** Which of them cannot be collected within half a minute. */
    private static List<Integer> leftOf(List<WeakReference<ClassLoader>> loaders) throws InterruptedException {
        List<Integer> left = new ArrayList<>();
        for (int look = 0; look < 60; look++) {
            System.gc();
            left.clear();
            for (int round = 0; round < loaders.size(); round++) {
                if (loaders.get(round).get() != null) {
                    left.add(round);
                }
            }
            if (left.isEmpty()) {
                break;
            }
            Thread.sleep(500);
        }
        return left;
    }

    /** What is in use when nothing is left to collect: the least of several looks. */
    private static long used() {
        long least = Long.MAX_VALUE;
        for (int look = 0; look < 5; look++) {
            System.gc();
            least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }

    /** Copies the package of a class, and all below it, to where an application has its classes. */
    private static void copy(Class<?> of, Path classes) throws IOException, URISyntaxException {
        Path built = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
        assertTrue(Files.isDirectory(built) || built.toString().endsWith(".jar"), built + " has classes");
        if (!Files.isDirectory(built)) {
            Path libraries = Files.createDirectories(classes.resolveSibling("lib"));
            Files.copy(built, libraries.resolve(built.getFileName()));
            return;
        }
        List<Path> files;
        try (Stream<Path> found = Files.walk(built)) {
            files = found.filter(Files::isRegularFile).collect(Collectors.toList());
        }
        for (Path file : files) {
            Path to = classes.resolve(built.relativize(file).toString());
            Files.createDirectories(to.getParent());
            if (!Files.exists(to)) {
                Files.copy(file, to);
            }
        }
    }
}
