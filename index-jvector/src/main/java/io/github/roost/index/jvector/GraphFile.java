package io.github.roost.index.jvector;

import io.github.jbellis.jvector.disk.RandomAccessWriter;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndexWriter;
import io.github.jbellis.jvector.graph.disk.OrdinalMapper;
import io.github.jbellis.jvector.graph.disk.feature.Feature;
import io.github.jbellis.jvector.graph.disk.feature.FeatureId;
import io.github.jbellis.jvector.graph.disk.feature.InlineVectors;
import io.github.roost.vector.file.WholeFile;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Writes graphs to files of jvector's own format, with the vectors in the graph and the same ordinals. */
final class GraphFile {
    private static final int BUFFER_BYTES = 1 << 16;

    private GraphFile() {}

    /**
     * Writes a graph, or replaces its file.
     *
     * @param file the file to write or replace
     * @param graph the graph
     * @param rows its ordinals
     * @param vectors reads its vectors
     * @return the file
     */
    static Path save(Path file, ImmutableGraphIndex graph, GraphRows rows, Searcher vectors) throws IOException {
        WholeFile.replace(file, channel -> {
            @SuppressWarnings("resource") // the channel belongs to the caller
            Output output = new Output(channel);
            @SuppressWarnings("resource") // closes nothing but the output
            OnDiskGraphIndexWriter writer = new OnDiskGraphIndexWriter.Builder(graph, output)
                    .withMapper(new SameOrdinals(rows))
                    .with(new InlineVectors(graph.getDimension()))
                    .build();
            writer.write(Feature.singleStateFactory(
                    FeatureId.INLINE_VECTORS, ordinal -> new InlineVectors.State(vectors.vector(ordinal))));
            output.flush();
        });
        return file;
    }

    /** Keeps every ordinal, and leaves out those without a node. */
    private record SameOrdinals(GraphRows rows) implements OrdinalMapper {
        @Override
        public int maxOrdinal() {
            return rows.bound() - 1;
        }

        @Override
        public int oldToNew(int ordinal) {
            return ordinal;
        }

        @Override
        public int newToOld(int ordinal) {
            return rows.isLive(ordinal) ? ordinal : OMITTED;
        }
    }

    /** A file as jvector writes to it. */
    private static final class Output extends DataOutputStream implements RandomAccessWriter {
        private final FileChannel channel;

        Output(FileChannel channel) {
            super(new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES));
            this.channel = channel;
        }

        @Override
        public long position() throws IOException {
            flush();
            return channel.position();
        }

        @Override
        public void seek(long position) throws IOException {
            flush();
            channel.position(position);
        }

        /** Never called: a file is written without being read. */
        @Override
        public long checksum(long from, long to) {
            throw new UnsupportedOperationException("a file that is written cannot be read");
        }
    }
}
