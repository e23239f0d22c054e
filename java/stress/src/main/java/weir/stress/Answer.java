package weir.stress;

/** One answer, before it goes onto the wire. */
record Answer(int status, String contentType, String body) {
    static Answer text(String body) {
        return new Answer(200, "text/plain; charset=utf-8", body);
    }

    static Answer json(String body) {
        return new Answer(200, "application/json", body + "\n");
    }

    /** An answer that says why there is no other. */
    static Answer refusal(int status, String why) {
        return new Answer(status, "text/plain; charset=utf-8", why + "\n");
    }
}
