package weir.idle;

/** What is wrong with the command line, for whoever wrote it. */
final class BadOption extends Exception {
    BadOption(String message) {
        super(message);
    }
}
