package io.github.roost.rows.service;

import io.github.roost.vector.Vectors;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The network options of a {@link RowsServer}: address, TLS, token and limits.
 *
 * @param address the address to listen on; port 0 for any free port. An address other than loopback requires TLS and a token
 * @param certificate PEM file of the server's certificate chain, or null for no TLS
 * @param key PEM file of its private key, or null for no TLS
 * @param token the token that requests must carry, 16 characters or more, or null for none
 * @param maxMessageBytes the maximum size of a request, from 1,024 to 2^30
 * @param maxReplyBytes the maximum size of the rows of an answer, from 1,024 to 2^28, the maximum that clients accept
 */
public record ServerOptions(
        InetSocketAddress address,
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable String token,
        int maxMessageBytes,
        int maxReplyBytes) {
    /** The default maximum size of the rows of an answer, and the maximum that clients accept. */
    static final int USUAL_REPLY_BYTES = 256 << 20;

    private static final int USUAL_MESSAGE_BYTES = 1 << 20;
    private static final int MIN_TOKEN = 16;

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if the address is not loopback and TLS or the token is missing, or the address is unresolved; if only one of
     *     certificate and key is given; if the token is too short; or if a limit is out of range
     */
    public ServerOptions {
        Vectors.requireRange("maxMessageBytes", maxMessageBytes, 1_024, 1 << 30);
        Vectors.requireRange("maxReplyBytes", maxReplyBytes, 1_024, USUAL_REPLY_BYTES);
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
     * Options of a server on a loopback address, for clients on the same machine.
     *
     * @param port the port to listen on; 0 for any free port
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

    /** Omits the token, which is a secret. */
    @Override
    public String toString() {
        return "ServerOptions[address=" + address + ", tls=" + (certificate != null) + ", token=" + (token != null)
                + ", maxMessageBytes=" + maxMessageBytes + ", maxReplyBytes=" + maxReplyBytes + "]";
    }
}
