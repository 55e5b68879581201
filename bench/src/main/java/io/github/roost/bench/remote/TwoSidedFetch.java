package io.github.roost.bench.remote;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The peer of one-sided reads: a server that is asked for bytes of the same file over TCP on the loopback interface, and whose processor
 * sends them. One request at a time.
 */
final class TwoSidedFetch implements AutoCloseable {
    private final ServerSocket server;
    private final Socket client;
    private final DataOutputStream out;
    private final DataInputStream in;

    TwoSidedFetch(Path file) throws IOException {
        this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("two-sided-server").start(() -> serve(file));
        this.client = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
        client.setTcpNoDelay(true);
        this.out = new DataOutputStream(client.getOutputStream());
        this.in = new DataInputStream(client.getInputStream());
    }

    private void serve(Path file) {
        try (Socket asked = server.accept();
                FileChannel bytes = FileChannel.open(file, StandardOpenOption.READ);
                DataInputStream requests = new DataInputStream(asked.getInputStream())) {
            asked.setTcpNoDelay(true);
            while (true) {
                long at = requests.readLong();
                ByteBuffer piece = ByteBuffer.allocate(requests.readInt());
                while (piece.hasRemaining() && bytes.read(piece, at + piece.position()) >= 0) {
                    // Until all is read.
                }
                asked.getOutputStream().write(piece.array());
            }
        } catch (EOFException | SocketException closed) {
            // The client has gone: all is served.
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    void fetch(long at, byte[] into) throws IOException {
        out.writeLong(at);
        out.writeInt(into.length);
        out.flush();
        in.readFully(into);
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
