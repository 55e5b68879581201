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
 * <p>Segments record the name of Lucene's codec, and the format of each vector field. So an index written with this codec can be
 * read and extended without it, and an index written without it can be extended with it: existing segments change to
 * the new format when they are merged. Immutable; thread-safe.
 */
public final class RoostCodec extends FilterCodec {
    private final KnnVectorsFormat perField;

    /** Creates a codec with the default {@link RoostVectorsFormat}. */
    public RoostCodec() {
        this(new RoostVectorsFormat());
    }

    /**
     * Creates a codec with a given vector format.
     *
     * @param format the format of all vector fields
     */
    public RoostCodec(KnnVectorsFormat format) {
        this(new Lucene104Codec(), field -> format);
    }

    /**
     * Creates a codec that extends another codec with formats for its vector fields. Segments record the other codec's name.
     *
     * @param codec the codec of everything except vector fields
     * @param formats maps the name of a vector field to its format; must return the same object for fields that share a format, so
     *     that they are written together
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
