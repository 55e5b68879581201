package io.github.roost.bench.remote;

import io.github.roost.bench.peer.BytesOverGrpc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The baseline of one-sided reads: a gRPC server on the loopback interface that reads the requested bytes of the same file and sends them. One
 * request at a time.
 */
final class TwoSidedFetch implements AutoCloseable {
    private final FileChannel file;
    private final BytesOverGrpc service;

    TwoSidedFetch(Path file) throws IOException {
        this.file = FileChannel.open(file, StandardOpenOption.READ);
        this.service = new BytesOverGrpc("roost.Pool", this::read);
    }

    private byte[] read(byte[] request) throws IOException {
        ByteBuffer piece = ByteBuffer.wrap(request);
        long at = piece.getLong();
        ByteBuffer into = ByteBuffer.allocate(piece.getInt());
        while (into.hasRemaining() && file.read(into, at + into.position()) >= 0) {
            // Reads until the buffer is full.
        }
        return into.array();
    }

    /** Fetches {@code bytes} bytes from {@code at}. */
    byte[] fetch(long at, int bytes) {
        return service.ask(ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                .putLong(at)
                .putInt(bytes)
                .array());
    }

    @Override
    public void close() throws IOException {
        service.close();
        file.close();
    }
}
