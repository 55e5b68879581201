package io.github.roost.server;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a service.
 *
 * @param host the address to bind, or its name; any but a loopback address needs a token
 * @param port from 0 (any free one) to 65,535
 * @param token the bearer token required for writes; if absent, writes are open to this machine
 * @param maxBodyBytes the largest request body
 * @param bodyTime time limit for a request's headers, then for its body, and then for each started MiB of its answer to be taken; a connection
 *     without a request line is closed after six to seven times as long
 * @param searchTime time limit of a search, and the largest deadline of a request
 * @param drainTime time limit for accepted requests once the service is told to end
 */
public record ServeSettings(
        String host,
        int port,
        @Nullable String token,
        int maxBodyBytes,
        Duration bodyTime,
        Duration searchTime,
        Duration drainTime) {
    /** Loopback only, writes open, bodies up to 1 MiB within 10 s, searches and draining up to 10 s. */
    public static final ServeSettings DEFAULT = new ServeSettings(
            "127.0.0.1", 8080, null, 1 << 20, Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(10));

    public ServeSettings {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("the port must be between 0 and 65,535, got " + port);
        }
        if (token != null && token.isBlank()) {
            throw new IllegalArgumentException("ROOST_TOKEN must not be blank");
        }
        if (token != null && !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("ROOST_TOKEN must be of visible ASCII characters, without blanks");
        }
        if (token == null && !isLoopback(host)) {
            throw new IllegalArgumentException(
                    "the environment variable ROOST_TOKEN must be set to bind " + host + ", which others can reach");
        }
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("the host must be an address of this machine, got " + host, e);
        }
    }

    /** The same settings on another port. */
    public ServeSettings withPort(int value) {
        return new ServeSettings(host, value, token, maxBodyBytes, bodyTime, searchTime, drainTime);
    }

    /** The same settings with another address and token. */
    public ServeSettings withHost(String value, @Nullable String itsToken) {
        return new ServeSettings(value, port, itsToken, maxBodyBytes, bodyTime, searchTime, drainTime);
    }

    /** The same settings with other limits on bodies. */
    ServeSettings withBodies(int maxBytes, Duration time) {
        return new ServeSettings(host, port, token, maxBytes, time, searchTime, drainTime);
    }
}
