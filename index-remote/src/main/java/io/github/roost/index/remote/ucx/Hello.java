package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.file.Checksum;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * The handshake message that a node sends to each connecting process; it has everything UCX needs to read the node's region. Numbers are
 * big-endian; the message ends with a CRC-32C.
 *
 * @param bytes size of the region
 * @param address of the region's first byte in the node's process
 * @param key UCX's remote key of the region
 * @param worker UCX's address of the node's worker
 */
record Hello(long bytes, long address, byte[] key, byte[] worker) {
    private static final long MAGIC = 0x524f4f5354554358L;
    private static final int VERSION = 1;
    /** Maximum size of a key or an address: typically some hundred bytes, with many network cards a few thousand. */
    static final int MAX_BYTES = 1 << 16;

    void write(OutputStream to) throws IOException {
        byte[] all = body();
        DataOutputStream out = new DataOutputStream(to);
        out.write(all);
        out.writeInt(Checksum.of(MemorySegment.ofArray(all)));
        out.flush();
    }

    /**
     * Reads and checks a message.
     *
     * @param region its name, for error messages
     */
    static Hello read(String region, InputStream from) throws IOException {
        DataInputStream in = new DataInputStream(from);
        try {
            if (in.readLong() != MAGIC) {
                throw new RemoteMemoryException(region, "is not a memory node's address: it says something else");
            }
            int version = in.readInt();
            if (version != VERSION) {
                throw new RemoteMemoryException(
                        region, "is a memory node of version " + version + ", this is version " + VERSION);
            }
            long bytes = in.readLong();
            long address = in.readLong();
            Hello hello = new Hello(bytes, address, some(region, "key", in), some(region, "address", in));
            if (in.readInt() != Checksum.of(MemorySegment.ofArray(hello.body()))) {
                throw new RemoteMemoryException(region, "sent a damaged handshake: wrong checksum");
            }
            if (bytes <= 0 || address <= 0 || address > Long.MAX_VALUE - bytes) {
                throw new RemoteMemoryException(
                        region, "must have at least one byte and an address, got " + bytes + " at " + address);
            }
            return hello;
        } catch (EOFException ended) {
            throw new RemoteMemoryException(region, "closed the connection during the handshake", ended);
        }
    }

    private static byte[] some(String region, String what, DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 1 || length > MAX_BYTES) {
            throw new RemoteMemoryException(
                    region, "has a " + what + " of UCX of " + length + " bytes, expected 1 to " + MAX_BYTES);
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private byte[] body() {
        ByteArrayOutputStream bytesOut = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytesOut);
        try {
            out.writeLong(MAGIC);
            out.writeInt(VERSION);
            out.writeLong(bytes);
            out.writeLong(address);
            out.writeInt(key.length);
            out.write(key);
            out.writeInt(worker.length);
            out.write(worker);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytesOut.toByteArray();
    }
}
