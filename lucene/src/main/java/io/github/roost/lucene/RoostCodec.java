package io.github.roost.lucene;

import java.util.function.Function;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;

/**
 * Lucene's codec with {@link RoostVectorsFormat} for all vector fields: {@code config.setCodec(new RoostCodec())}.
 *
 * <p>Segments say that they are of Lucene's codec, and of each vector field which format it has. So an index that was written
 * with this codec is read, and written on, without it; and an index that was written without it is written on with it,
 * field by field as its segments are merged. Immutable; thread-safe.
 */
public final class RoostCodec extends FilterCodec {
    private final KnnVectorsFormat perField;

    /** With the default sizes of a graph. */
    public RoostCodec() {
        this(new RoostVectorsFormat());
    }

    /**
     * With a format of one's own making.
     *
     * @param format of all vector fields
     */
    public RoostCodec(KnnVectorsFormat format) {
        this(new Lucene104Codec(), field -> format);
    }

    /**
     * Another codec with formats for its vector fields. Segments bear that codec's name.
     *
     * @param codec for all else
     * @param formats the format for a vector field of some name; the same object each time, so that the fields that have it are
     *     written together
     */
    public RoostCodec(Codec codec, Function<String, KnnVectorsFormat> formats) {
        super(codec.getName(), codec);
        this.perField = new PerFieldKnnVectorsFormat() {
            @Override
            public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
                return formats.apply(field);
            }
        };
    }

    @Override
    public KnnVectorsFormat knnVectorsFormat() {
        return perField;
    }
}
