package weir.posts;

import com.fasterxml.jackson.annotation.JsonProperty;

/** One row of a page. */
record Post(long id, String title, String writer, String body, @JsonProperty("created_at") String createdAt) {}
