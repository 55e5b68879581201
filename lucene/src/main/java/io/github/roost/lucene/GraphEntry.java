package io.github.roost.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;

/**
 * A segment's metadata of one vector field.
 *
 * @param count number of vectors
 * @param offset offset of the field's graph in the graph file
 * @param length length of the graph in bytes; 0 if there is none
 */
record GraphEntry(
        VectorEncoding encoding,
        VectorSimilarityFunction similarity,
        int dimension,
        int count,
        long offset,
        long length) {
    /** Files contain the indices of these lists, so their order must not change. */
    private static final List<VectorEncoding> ENCODINGS = List.of(VectorEncoding.BYTE, VectorEncoding.FLOAT32);

    private static final List<VectorSimilarityFunction> SIMILARITIES = List.of(
            VectorSimilarityFunction.EUCLIDEAN,
            VectorSimilarityFunction.DOT_PRODUCT,
            VectorSimilarityFunction.COSINE,
            VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

    boolean hasGraph() {
        return length > 0;
    }

    void write(int fieldNumber, IndexOutput meta) throws IOException {
        meta.writeInt(fieldNumber);
        meta.writeInt(ENCODINGS.indexOf(encoding));
        meta.writeInt(SIMILARITIES.indexOf(similarity));
        meta.writeInt(dimension);
        meta.writeInt(count);
        meta.writeLong(offset);
        meta.writeLong(length);
    }

    /** Reads an entry, after the field's number. */
    static GraphEntry read(IndexInput meta) throws IOException {
        return new GraphEntry(
                oneOf(ENCODINGS, "vector encoding", meta),
                oneOf(SIMILARITIES, "similarity function", meta),
                meta.readInt(),
                meta.readInt(),
                meta.readLong(),
                meta.readLong());
    }

    private static <T> T oneOf(List<T> values, String what, IndexInput meta) throws IOException {
        int number = meta.readInt();
        if (number < 0 || number >= values.size()) {
            throw new CorruptIndexException(
                    what + " must be between 0 and " + (values.size() - 1) + ", got " + number, meta);
        }
        return values.get(number);
    }

    /** Checks that the entry matches a field. Whether the graph fits into its file is checked when that is opened. */
    void require(FieldInfo field, IndexInput meta) throws CorruptIndexException {
        if (encoding != field.getVectorEncoding()
                || similarity != field.getVectorSimilarityFunction()
                || dimension != field.getVectorDimension()) {
            throw new CorruptIndexException(
                    "field \"" + field.name + "\" has vectors of " + field.getVectorDimension() + " components, "
                            + field.getVectorEncoding() + ", " + field.getVectorSimilarityFunction()
                            + ", but its graph is of " + dimension + ", " + encoding + ", " + similarity,
                    meta);
        }
        if (count < 0 || offset < 0 || length < 0 || (length > 0 && count == 0)) {
            throw new CorruptIndexException(
                    "field \"" + field.name + "\" has " + count + " vectors and a graph of " + length + " bytes at "
                            + offset,
                    meta);
        }
    }
}
