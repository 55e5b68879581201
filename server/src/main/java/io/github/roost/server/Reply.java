package io.github.roost.server;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A response.
 *
 * @param status HTTP status
 * @param contentType of its body
 * @param body not copied
 * @param headers in addition to the headers of every response
 */
record Reply(int status, String contentType, byte[] body, Map<String, String> headers) {
    private static final String JSON = "application/json";

    /** The body of an error response. */
    record Complaint(String error) {}

    static Reply json(Object value) {
        return json(200, value);
    }

    static Reply json(int status, Object value) {
        return new Reply(status, JSON, Json.write(value), Map.of());
    }

    static Reply text(String contentType, String text) {
        return new Reply(200, contentType, text.getBytes(StandardCharsets.UTF_8), Map.of());
    }

    /** The response for a problem, with the headers that its status requires. */
    static Reply of(Problem problem) {
        Map<String, String> headers = switch (problem.status()) {
            case 401 -> Map.of("WWW-Authenticate", "Bearer");
            case 429 -> Map.of("Retry-After", "1");
            // Do not wait for the rest of the body.
            case 413, 503 -> Map.of("Connection", "close");
            default -> Map.of();
        };
        return new Reply(problem.status(), JSON, Json.write(new Complaint(problem.sentence())), headers);
    }

    Reply with(String header, String value) {
        return new Reply(status, contentType, body, Map.of(header, value));
    }
}
