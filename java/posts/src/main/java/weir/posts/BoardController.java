package weir.posts;

import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** {@code GET /boards/{board}/posts?size=&page=}: one page of a board. */
@RestController
class BoardController {
    private static final String STATEMENT =
            "SELECT id, title, writer, body, created_at FROM posts WHERE board_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";

    private final JdbcClient database;

    BoardController(JdbcClient database) {
        this.database = database;
    }

    @GetMapping("/boards/{board}/posts")
    Listing page(@PathVariable String board, @RequestParam MultiValueMap<String, String> query) {
        PageRequest page = PageRequest.of(board, query);
        List<Post> posts = database.sql(STATEMENT)
                .params((int) page.board(), page.size(), page.offset())
                .query(Post.class)
                .list();
        return new Listing(page.board(), page.number(), posts);
    }

    @ExceptionHandler
    ResponseEntity<String> refuse(PageRequest.BadRequest wrong) {
        return ResponseEntity.badRequest().contentType(MediaType.TEXT_PLAIN).body(wrong.getMessage() + "\n");
    }
}
