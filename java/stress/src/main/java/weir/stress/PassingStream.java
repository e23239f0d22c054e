package weir.stress;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import weir.regulator.Checkpoint;

/**
 * A stream that passes a checkpoint whenever something is read from it: whoever parses it can stand back in between. What it does
 * there is not counted as progress, whose unit is another.
 */
final class PassingStream extends FilterInputStream {
    private final Checkpoint checkpoint;

    PassingStream(InputStream in, Checkpoint checkpoint) {
        super(in);
        this.checkpoint = checkpoint;
    }

    @Override
    public int read() throws IOException {
        checkpoint.tick(0);
        return super.read();
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
        checkpoint.tick(0);
        return super.read(into, from, most);
    }
}
