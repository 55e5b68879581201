package io.github.roost.server.input;

import io.jhdf.HdfFile;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.dataset.chunked.Chunk;
import io.jhdf.dataset.chunked.ChunkOffset;
import io.jhdf.dataset.chunked.ChunkedDatasetV3;
import io.jhdf.dataset.chunked.ChunkedDatasetV4;
import io.jhdf.exceptions.HdfException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A chunked dataset that tells of each chunk which filters it has not gone through: the library reads that, but keeps it to itself. */
interface HdfChunks extends ChunkedDataset {
    /** Address of a chunk that was never written. */
    long NOWHERE = -1;

    /** The chunks of the file, by their first element. */
    Map<ChunkOffset, Chunk> getChunkLookup();

    /** {@return the chunk that begins at this element, or null if it was never written} */
    default @Nullable Chunk chunk(int row, int column) {
        Chunk chunk = isEmpty() ? null : getChunkLookup().get(new ChunkOffset(new int[] {row, column}));
        return chunk == null || chunk.getAddress() == NOWHERE ? null : chunk;
    }

    /** {@return a dataset with its chunks} */
    static HdfChunks of(HdfFile hdf, ChunkedDataset dataset) {
        return switch (dataset) {
            case ChunkedDatasetV3 older -> new Older(hdf, older);
            case ChunkedDatasetV4 newer -> new Newer(hdf, newer);
            default ->
                throw new HdfException(
                        "chunks of the kind " + dataset.getClass().getSimpleName());
        };
    }

    /** A dataset of the layout that HDF5 writes if it is not told. */
    final class Older extends ChunkedDatasetV3 implements HdfChunks {
        private Older(HdfFile hdf, ChunkedDatasetV3 same) {
            super(hdf.getHdfBackingStorage(), same.getAddress(), same.getName(), same.getParent(), same.getHeader());
        }

        @Override
        public Map<ChunkOffset, Chunk> getChunkLookup() {
            return super.getChunkLookup();
        }
    }

    /** A dataset of the layout of version 1.10 and later. */
    final class Newer extends ChunkedDatasetV4 implements HdfChunks {
        private Newer(HdfFile hdf, ChunkedDatasetV4 same) {
            super(hdf.getHdfBackingStorage(), same.getAddress(), same.getName(), same.getParent(), same.getHeader());
        }

        @Override
        public Map<ChunkOffset, Chunk> getChunkLookup() {
            return super.getChunkLookup();
        }
    }
}
