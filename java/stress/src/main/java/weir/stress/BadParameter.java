package weir.stress;

/** What is wrong with a parameter, in words for the one who sent it. */
final class BadParameter extends Exception {
    BadParameter(String message) {
        super(message);
    }
}
