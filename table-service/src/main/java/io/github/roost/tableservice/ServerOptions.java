package io.github.roost.tableservice;

import io.github.roost.core.Vectors;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link TableServer} is reached, and by whom.
 *
 * @param address to listen on; port 0 for any that is free. Any but a loopback address needs TLS and a token
 * @param certificate PEM file of the server's certificate chain, or null for none
 * @param key PEM file of its private key, or null for none
 * @param token that requests must bring, of 16 characters or more, or null if they need none
 * @param mostMessageBytes of a request, from 1,024 to 2^30
 * @param mostReplyBytes of the rows of an answer, from 1,024 to 2^28, which is what a client takes
 */
public record ServerOptions(
        InetSocketAddress address,
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable String token,
        int mostMessageBytes,
        int mostReplyBytes) {
    /** The most that the rows of an answer take, unless the options say less; a client takes it. */
    static final int USUAL_REPLY_BYTES = 1 << 28;

    private static final int USUAL_MESSAGE_BYTES = 1 << 20;
    private static final int MIN_TOKEN = 16;

    /**
     * Options.
     *
     * @throws IllegalArgumentException if they would let anybody in from another machine, one of certificate and key is missing, the token
     *     is too short, or the limit out of range
     */
    public ServerOptions {
        Vectors.requireRange("mostMessageBytes", mostMessageBytes, 1_024, 1 << 30);
        Vectors.requireRange("mostReplyBytes", mostReplyBytes, 1_024, USUAL_REPLY_BYTES);
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("certificate and key must be given together, got one of them");
        }
        if (token != null && token.length() < MIN_TOKEN) {
            throw new IllegalArgumentException(
                    "token must have " + MIN_TOKEN + " characters or more, got " + token.length());
        }
        if (address.getAddress() == null) {
            throw new IllegalArgumentException("address must be known, got " + address);
        }
        if (!address.getAddress().isLoopbackAddress() && (certificate == null || token == null)) {
            throw new IllegalArgumentException(
                    "address must be a loopback address without a certificate and a token, got " + address);
        }
    }

    /**
     * A server on a loopback address, for clients on the same machine.
     *
     * @param port to listen on; 0 for any that is free
     * @return the options: no TLS, no token, requests of up to 1 MiB, answers of up to 256 MiB
     */
    public static ServerOptions onLoopback(int port) {
        return new ServerOptions(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                null,
                null,
                null,
                USUAL_MESSAGE_BYTES,
                USUAL_REPLY_BYTES);
    }

    /** Without the token, which is a secret. */
    @Override
    public String toString() {
        return "ServerOptions[address=" + address + ", tls=" + (certificate != null) + ", token=" + (token != null)
                + ", mostMessageBytes=" + mostMessageBytes + ", mostReplyBytes=" + mostReplyBytes + "]";
    }
}
