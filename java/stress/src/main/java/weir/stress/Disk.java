package weir.stress;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import weir.regulator.Checkpoint;

/**
 * {@code /heavy/disk}: writes a block into a file of the request's own again and again and waits each time until it is on the
 * disk. The file is removed at the end.
 */
final class Disk implements Endpoint {
    private static final NumberParameter WRITES = new NumberParameter("writes", "times", 1, 10_000, 10);
    private static final NumberParameter SIZE = new NumberParameter("kib", "KiB of each write", 1, 1_024, 64);
    private static final NumberParameter PAUSE = Steps.pause("write");

    private static final Checkpoint CHECKPOINT = Checkpoint.of("disk");

    private final Path directory;

    /** Writes below this directory. */
    Disk(Path directory) {
        this.directory = directory;
    }

    @Override
    public Answer answer(Parameters parameters) throws BadParameter, Unavailable, InterruptedException {
        parameters.expectOnly(WRITES.name(), SIZE.name(), PAUSE.name());
        long writes = parameters.number(WRITES);
        int bytes = (int) parameters.number(SIZE) * 1_024;
        long pauseMs = parameters.number(PAUSE);

        CHECKPOINT.tick(0);
        try {
            Path file = Files.createTempFile(directory, "weir-stress-", ".disk");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                ByteBuffer block = ByteBuffer.allocateDirect(bytes);
                Steps.run(writes, pauseMs, CHECKPOINT, () -> write(channel, block));
                return Answer.json("{\"writes\":" + writes + ",\"bytes\":" + channel.size() + "}");
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** Over what the last write has left, so that the file stays small. */
    private static void write(FileChannel channel, ByteBuffer block) throws Unavailable {
        try {
            block.clear();
            channel.position(0);
            while (block.hasRemaining()) {
                channel.write(block);
            }
            channel.force(true);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static Unavailable failed(IOException cause) {
        return new Unavailable(500, "failed to write to the disk: " + cause.getMessage(), cause);
    }
}
