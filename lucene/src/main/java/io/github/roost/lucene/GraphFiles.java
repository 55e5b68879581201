package io.github.roost.lucene;

import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.SegmentInfo;

/** Names and versions of the two files per segment that the format adds to the vectors' files. */
final class GraphFiles {
    static final String META_EXTENSION = "vem";
    static final String GRAPH_EXTENSION = "vex";
    /** Under which Lucene counts the bytes of codes. They are in the graph file. */
    static final String CODES_ALONE = "veq";

    static final String META_CODEC = "RoostVectorsMeta";
    static final String GRAPH_CODEC = "RoostVectorsGraph";

    static final int FIRST_VERSION = 1;
    /** Of version 1 every graph has links. */
    static final int VERSION = 2;

    /** Alignment of graphs: a cache line. */
    static final int ALIGNMENT = 64;
    /** Follows the last field. */
    static final int END_OF_FIELDS = -1;

    private GraphFiles() {}

    static String name(SegmentInfo segment, String suffix, String extension) {
        return IndexFileNames.segmentFileName(segment.name, suffix, extension);
    }
}
