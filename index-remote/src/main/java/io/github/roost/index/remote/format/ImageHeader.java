package io.github.roost.index.remote.format;

import static io.github.roost.index.remote.format.Bytes.INT;
import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.file.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The header in front of a partition's graph: identifies the partition and has a checksum of each 64 KiB block of the graph. Stateless.
 *
 * <p>Layout: fixed fields, one checksum per block, padding to a cache line, the graph.
 */
public final class ImageHeader {
    public static final int BLOCK_BYTES = 64 << 10;
    /** Bytes of the fixed fields. */
    public static final int BYTES = 64;

    private static final int CACHE_LINE = 64;
    private static final long MAGIC = 0x4547414d49525052L;
    private static final int CHECKSUM_AT = 60;

    private ImageHeader() {}

    public static int blocks(long graphBytes) {
        return Math.toIntExact((graphBytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    }

    /** Bytes of the header for a graph; also the offset of the graph in the image. */
    public static long bytes(long graphBytes) {
        return Bytes.aligned(BYTES + (long) blocks(graphBytes) * Integer.BYTES, CACHE_LINE);
    }

    /** Bytes of header and graph, rounded up to cache lines. */
    public static long imageBytes(long graphBytes) {
        return Bytes.aligned(bytes(graphBytes) + graphBytes, CACHE_LINE);
    }

    /** Bytes of header and graph, rounded up to cache lines; the graph is null for a partition without rows. */
    public static long imageBytes(@Nullable Graph graph) {
        return graph == null ? BYTES : imageBytes(graph.memory().byteSize());
    }

    public static int rowsOf(@Nullable Graph graph) {
        return graph == null ? 0 : graph.rows();
    }

    /** The header of a graph, null for a partition without rows. */
    public static MemorySegment of(int partition, int generation, @Nullable Graph graph, Arena arena) {
        MemorySegment bytes = graph == null ? MemorySegment.NULL : graph.memory();
        MemorySegment header = arena.allocate(bytes(bytes.byteSize()), CACHE_LINE);
        write(header, partition, rowsOf(graph), generation, bytes);
        return header;
    }

    /** Writes a header; {@code into} has exactly its size. */
    private static void write(MemorySegment into, int partition, int rows, int generation, MemorySegment graph) {
        long graphBytes = graph.byteSize();
        into.fill((byte) 0);
        into.set(LONG, 0, MAGIC);
        into.set(INT, 8, partition);
        into.set(INT, 12, rows);
        into.set(INT, 16, generation);
        into.set(LONG, 24, graphBytes);
        for (int block = 0; block < blocks(graphBytes); block++) {
            into.set(INT, BYTES + (long) block * Integer.BYTES, Checksum.of(block(graph, block)));
        }
        into.set(INT, CHECKSUM_AT, headerChecksum(into));
    }

    /** Skips the checksum's own field. */
    private static int headerChecksum(MemorySegment header) {
        return 31 * Checksum.of(header.asSlice(0, CHECKSUM_AT)) + Checksum.of(header.asSlice(BYTES));
    }

    static MemorySegment block(MemorySegment graph, int block) {
        long at = (long) block * BLOCK_BYTES;
        return graph.asSlice(at, Math.min(BLOCK_BYTES, graph.byteSize() - at));
    }

    /**
     * Checks the header of a fetched image.
     *
     * @return bytes of the graph, 0 for a partition without rows
     */
    public static long check(String region, int partition, Directory.Place place, MemorySegment image)
            throws RemoteMemoryException.DamagedPartitionException {
        long graphBytes = image.get(LONG, 24);
        if (image.get(LONG, 0) != MAGIC
                || graphBytes < 0
                || graphBytes > image.byteSize()
                || imageBytes(graphBytes) != image.byteSize()) {
            throw new RemoteMemoryException.DamagedPartitionException(region, partition, "its header is none");
        }
        if (image.get(INT, CHECKSUM_AT) != headerChecksum(image.asSlice(0, bytes(graphBytes)))) {
            throw new RemoteMemoryException.DamagedPartitionException(
                    region, partition, "wrong checksum of its header");
        }
        if (image.get(INT, 8) != partition
                || image.get(INT, 12) != place.rows()
                || image.get(INT, 16) != place.generation()
                || (graphBytes == 0) != (place.rows() == 0)) {
            throw new RemoteMemoryException.DamagedPartitionException(
                    region,
                    partition,
                    "it is partition " + image.get(INT, 8) + " of generation " + image.get(INT, 16) + ", not of "
                            + place.generation());
        }
        return graphBytes;
    }

    /** Checks one block of the graph. */
    public static void checkBlock(String region, int partition, MemorySegment image, MemorySegment graph, int block)
            throws RemoteMemoryException.DamagedPartitionException {
        if (image.get(INT, BYTES + (long) block * Integer.BYTES) != Checksum.of(block(graph, block))) {
            throw new RemoteMemoryException.DamagedPartitionException(
                    region, partition, "wrong checksum of block " + block);
        }
    }
}
