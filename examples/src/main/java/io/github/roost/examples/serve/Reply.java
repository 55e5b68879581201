package io.github.roost.examples.serve;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * An answer on its way out.
 *
 * @param status its status
 * @param contentType of its body
 * @param body not copied
 * @param headers besides those that every answer has
 */
record Reply(int status, String contentType, byte[] body, Map<String, String> headers) {
    private static final String JSON = "application/json";

    /** What a request gets that is not answered. */
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

    /** The sentence of a problem, with the headers that its status calls for. */
    static Reply of(Problem problem) {
        Map<String, String> headers = switch (problem.status()) {
            case 401 -> Map.of("WWW-Authenticate", "Bearer");
            case 429 -> Map.of("Retry-After", "1");
            // What is left of the body is not worth waiting for.
            case 413, 503 -> Map.of("Connection", "close");
            default -> Map.of();
        };
        return new Reply(problem.status(), JSON, Json.write(new Complaint(problem.sentence())), headers);
    }

    Reply with(String header, String value) {
        return new Reply(status, contentType, body, Map.of(header, value));
    }
}
