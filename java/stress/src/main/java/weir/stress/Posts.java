package weir.stress;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** {@code /posts}: one page of a board, newest first, read from the database through the pool. */
final class Posts implements Endpoint {
    private static final NumberParameter BOARD = new NumberParameter("board", "number of the board", 1, 10, 2);
    private static final NumberParameter SIZE = new NumberParameter("size", "posts", 1, 1_000, 10);
    private static final NumberParameter PAGE = new NumberParameter("page", "number of the page", 1, 1_000_000, 1);

    private static final String STATEMENT =
            "SELECT id, title, writer, body, created_at FROM posts WHERE board_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";

    private final Pool pool;

    Posts(Pool pool) {
        this.pool = pool;
    }

    @Override
    public Answer answer(Parameters parameters) throws BadParameter, Unavailable {
        parameters.expectOnly(BOARD.name(), SIZE.name(), PAGE.name());
        long board = parameters.number(BOARD);
        long size = parameters.number(SIZE);
        long page = parameters.number(PAGE);

        String posts;
        try (Pool.Lease lease = pool.acquire();
                PreparedStatement statement = lease.connection().prepareStatement(STATEMENT)) {
            statement.setInt(1, (int) board);
            statement.setLong(2, size);
            statement.setLong(3, size * (page - 1));
            try (ResultSet rows = statement.executeQuery()) {
                posts = listing(rows);
            }
        } catch (SQLException e) {
            throw new Unavailable(500, "failed to read the posts: " + e.getMessage(), e);
        }
        return Answer.json("{\"board\":" + board + ",\"page\":" + page + ",\"posts\":[" + posts + "]}");
    }

    private static String listing(ResultSet rows) throws SQLException {
        StringBuilder listing = new StringBuilder();
        while (rows.next()) {
            listing.append(listing.length() == 0 ? "" : ",").append("{\"id\":").append(rows.getLong(1));
            member(listing, "title", rows.getString(2));
            member(listing, "writer", rows.getString(3));
            member(listing, "body", rows.getString(4));
            member(listing, "created_at", rows.getString(5));
            listing.append('}');
        }
        return listing.toString();
    }

    private static void member(StringBuilder json, String name, String value) {
        json.append(",\"").append(name).append("\":\"");
        for (int at = 0; at < value.length(); at++) {
            char c = value.charAt(at);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
