package weir.posts;

import java.util.List;

/** The answer: one page of a board. */
record Listing(long board, long page, List<Post> posts) {}
