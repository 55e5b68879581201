package io.github.roost.server;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A minimal HTTP client for one connection to a local service. It sends prepared requests and reads only status and length of an answer, so that
 * measuring costs little. For one thread.
 */
final class BareConnection implements AutoCloseable {
    private static final String LENGTH = "content-length:";

    private final Socket socket;
    private final InputStream in;

    BareConnection(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /** Encodes a request. */
    static byte[] post(String path, byte[] json) {
        byte[] head = ("POST " + path
                        + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                        + json.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + json.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(json, 0, request, head.length, json.length);
        return request;
    }

    /** Sends a request made by {@link #post} and returns the status of its answer. */
    int send(byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        int status = Integer.parseInt(line().split(" ", 3)[1]);
        long length = 0;
        for (String header = line(); !header.isEmpty(); header = line()) {
            if (header.regionMatches(true, 0, LENGTH, 0, LENGTH.length())) {
                length = Long.parseLong(header.substring(LENGTH.length()).strip());
            }
        }
        in.skipNBytes(length);
        return status;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the service closed the connection");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
