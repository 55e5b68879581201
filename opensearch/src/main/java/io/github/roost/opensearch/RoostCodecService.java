package io.github.roost.opensearch;

import io.github.roost.lucene.RoostCodec;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.opensearch.index.codec.CodecService;
import org.opensearch.index.codec.CodecServiceConfig;
import org.opensearch.index.mapper.MapperService;

/**
 * The codecs of an index with {@code index.roost.enabled}: OpenSearch's codec of the index, with each vector field in the
 * format that its mapping sets. Segments record the name of OpenSearch's codec. Thread-safe.
 */
final class RoostCodecService extends CodecService {
    private static final KnnVectorsFormat OF_OTHER_FIELDS = new Lucene99HnswVectorsFormat();

    private final MapperService mappings;

    RoostCodecService(CodecServiceConfig config) {
        super(config.getMapperService(), config.getIndexSettings(), config.getLogger(), config.getAdditionalCodecs());
        this.mappings = config.getMapperService();
    }

    @Override
    public Codec codec(String name) {
        return new RoostCodec(super.codec(name), this::formatOf);
    }

    private KnnVectorsFormat formatOf(String field) {
        return mappings.fieldType(field) instanceof RoostVectorType vectors ? vectors.writing() : OF_OTHER_FIELDS;
    }
}
