package weir.idle;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import org.apache.camel.spi.ThreadPoolProfile;
import org.apache.camel.support.DefaultThreadPoolFactory;

/**
 * Thread pools whose threads do everything so many method calls deep, as under the layers of frameworks. Each call keeps an object in
 * use, so that the collector has to look into every frame.
 */
final class DeepThreads extends DefaultThreadPoolFactory {
    private final int frames;

    DeepThreads(int frames) {
        this.frames = frames;
    }

    @Override
    public ExecutorService newThreadPool(ThreadPoolProfile profile, ThreadFactory threads) {
        return super.newThreadPool(profile, work -> threads.newThread(() -> descend(frames, work)));
    }

    private static int descend(int frames, Runnable work) {
        if (frames <= 1) {
            work.run();
            return 1;
        }
        int below = descend(frames - 1, work);
        return work == null ? 0 : below + 1;
    }
}
