package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemoryException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * The address of a node: {@code ucx://HOST:PORT}.
 *
 * @param host a name or an address; an IPv6 address in brackets
 * @param port from 0, which takes a free one
 */
record UcxAddress(String host, int port) {
    private static final int MAX_PORT = 65_535;

    static UcxAddress parse(String address) {
        URI uri;
        try {
            uri = URI.create(address);
        } catch (IllegalArgumentException malformed) {
            throw wrong(address, malformed);
        }
        String host = uri.getHost();
        boolean isMore = !uri.getPath().isEmpty() || uri.getQuery() != null || uri.getUserInfo() != null;
        if (!"ucx".equals(uri.getScheme()) || host == null || uri.getPort() < 0 || isMore) {
            throw wrong(address, null);
        }
        if (uri.getPort() > MAX_PORT) {
            throw wrong(address, null);
        }
        return new UcxAddress(host, uri.getPort());
    }

    private static IllegalArgumentException wrong(String address, @Nullable IllegalArgumentException cause) {
        return new IllegalArgumentException(
                "an address of UCX must be ucx://HOST:PORT with a port up to " + MAX_PORT + ", got " + address, cause);
    }

    InetSocketAddress resolve() throws RemoteMemoryException {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException unknown) {
            throw new RemoteMemoryException(toString(), "has a host that is not known", unknown);
        }
    }

    @Override
    public String toString() {
        return "ucx://" + host + ":" + port;
    }
}
