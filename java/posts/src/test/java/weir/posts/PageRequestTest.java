package weir.posts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PageRequestTest {
    private static String refusal(String board, Map<String, List<String>> query) {
        return assertThrows(PageRequest.BadRequest.class, () -> PageRequest.of(board, query)).getMessage();
    }

    @Test
    void pagesCountFromOne() {
        PageRequest request = PageRequest.of("2", Map.of("size", List.of("10"), "page", List.of("499")));
        assertEquals(new PageRequest(2, 10, 499), request);
        assertEquals(4_980, request.offset());
        assertEquals(new PageRequest(1, 10, 1), PageRequest.of("1", Map.of()));
        assertEquals(0, PageRequest.of("1", Map.of()).offset());
    }

    @Test
    void whatIsOutOfBoundsIsNamed() {
        assertEquals(
                "parameter page: \"0\" is not accepted; give a whole number from 1 to 1000000 (number of the page)",
                refusal("2", Map.of("page", List.of("0"))));
        assertEquals(
                "parameter size: \"ten\" is not accepted; give a whole number from 1 to 1000 (posts)",
                refusal("2", Map.of("size", List.of("ten"))));
        assertEquals(
                "parameter board: \"11\" is not accepted; give a whole number from 1 to 10 (number of the board)",
                refusal("11", Map.of()));
    }

    @Test
    void misspeltAndRepeatedNamesAreRefused() {
        assertEquals("parameter pag is not known here; accepted: size, page", refusal("2", Map.of("pag", List.of("1"))));
        assertEquals("parameter page is given more than once", refusal("2", Map.of("page", List.of("1", "2"))));
    }
}
