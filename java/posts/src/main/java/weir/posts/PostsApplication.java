package weir.posts;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the board. */
@SpringBootApplication
public class PostsApplication {
    /** @param arguments settings as {@code --name=value} */
    public static void main(String[] arguments) {
        SpringApplication.run(PostsApplication.class, arguments);
    }
}
