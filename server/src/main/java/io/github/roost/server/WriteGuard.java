package io.github.roost.server;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the access of writes: requests need the token. Without a token the service listens on loopback only; then a write must name this
 * machine, or the bound address, as its host, so that no page of another site can make a browser write here under that site's name (DNS
 * rebinding).
 */
final class WriteGuard {
    private static final Set<String> THIS_MACHINE = Set.of("localhost", "127.0.0.1", "[::1]");

    private final @Nullable String token;
    private final String bound;

    /** @param bound the address that the service listens on, or its name */
    WriteGuard(@Nullable String token, String bound) {
        this.token = token;
        this.bound = bound.contains(":") ? "[" + bound + "]" : bound;
    }

    /** @throws Problem 401 or 403 unless the request may write */
    void check(ServerRequest request) {
        if (token == null) {
            requireThisMachine(request);
            return;
        }
        String given = request.headers().first(HeaderNames.AUTHORIZATION).orElse("");
        String prefix = "Bearer ";
        boolean right = given.regionMatches(true, 0, prefix, 0, prefix.length())
                && MessageDigest.isEqual(bytes(given.substring(prefix.length())), bytes(token));
        if (!right) {
            throw new Problem(401, "writes need the header Authorization: Bearer and the value of ROOST_TOKEN");
        }
    }

    private void requireThisMachine(ServerRequest request) {
        String host = request.headers().first(HeaderNames.HOST).orElse("").replaceFirst(":\\d+$", "");
        if (!THIS_MACHINE.contains(host) && !host.equalsIgnoreCase(bound)) {
            throw new Problem(403, "writes without a ROOST_TOKEN must go to localhost, got the host " + host);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
