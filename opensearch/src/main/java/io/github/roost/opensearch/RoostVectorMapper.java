package io.github.roost.opensearch;

import io.github.roost.lucene.GraphBuilds;
import io.github.roost.lucene.RoostVectorsFormat;
import io.github.roost.opensearch.VectorShape.Elements;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.jspecify.annotations.Nullable;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.core.xcontent.XContentParser.Token;
import org.opensearch.index.mapper.FieldMapper;
import org.opensearch.index.mapper.Mapper;
import org.opensearch.index.mapper.MapperParsingException;
import org.opensearch.index.mapper.ParametrizedFieldMapper;
import org.opensearch.index.mapper.ParseContext;

/** The mapper of the field type roost_vector: one vector per document, all of the same dimension. Immutable. */
final class RoostVectorMapper extends ParametrizedFieldMapper {
    static final String TYPE = "roost_vector";

    /** @param builds the threads that build the graphs of the fields */
    static Mapper.TypeParser parser(GraphBuilds builds) {
        return new TypeParser((name, context) -> builder(name, context, builds));
    }

    private static Builder builder(String name, Mapper.TypeParser.ParserContext context, GraphBuilds builds) {
        if (!RoostSettings.INDEX_ENABLED.get(context.getSettings())) {
            throw new MapperParsingException(
                    "field [" + name + "] of type roost_vector needs an index that was created with "
                            + RoostSettings.INDEX_ENABLED.getKey() + ": true");
        }
        return new Builder(name, builds);
    }

    private final Settings settings;
    private final GraphBuilds builds;

    /** The options of a field's mapping. */
    private record Settings(
            VectorShape shape,
            FieldFormat format,
            int m,
            int efConstruction,
            @Nullable FieldAttributes attributes,
            Map<String, String> meta) {}

    private RoostVectorMapper(
            String simpleName,
            RoostVectorType type,
            Settings settings,
            GraphBuilds builds,
            MultiFields multiFields,
            CopyTo copyTo) {
        super(simpleName, type, multiFields, copyTo);
        this.settings = settings;
        this.builds = builds;
    }

    private static Settings of(FieldMapper mapper) {
        return ((RoostVectorMapper) mapper).settings;
    }

    @Override
    public ParametrizedFieldMapper.Builder getMergeBuilder() {
        return new Builder(simpleName(), builds).init(this);
    }

    @Override
    protected String contentType() {
        return TYPE;
    }

    @Override
    public boolean parsesArrayValue() {
        return true;
    }

    /** Fails with the reason in the first line, where clients look for it. */
    @Override
    public void parse(ParseContext context) throws IOException {
        try {
            super.parse(context);
        } catch (MapperParsingException refused) {
            if (refused.getCause() == null) {
                throw refused;
            }
            throw new MapperParsingException(
                    "failed to parse field [" + name() + "] of type [" + TYPE + "] in document with id '"
                            + context.sourceToParse().id() + "': "
                            + refused.getCause().getMessage(),
                    refused.getCause());
        }
    }

    @Override
    protected void parseCreateField(ParseContext context) throws IOException {
        XContentParser parser = context.parser();
        if (parser.currentToken() == Token.VALUE_NULL) {
            return;
        }
        VectorShape shape = settings.shape();
        String what = "the vector of field [" + name() + "]";
        float[] vector = VectorJson.read(parser, what, shape.dimension());
        shape.require(what, vector);
        context.doc()
                .add(
                        shape.elements() == Elements.FLOAT
                                ? new KnnFloatVectorField(name(), vector, shape.similarity())
                                : new KnnByteVectorField(name(), VectorShape.bytes(vector), shape.similarity()));
    }

    /** Collects the options of a mapping. */
    private static final class Builder extends ParametrizedFieldMapper.Builder {
        private final Parameter<Integer> dimension = number(
                "dimension",
                0,
                Vectors.MAX_DIMENSIONS,
                settings -> settings.shape().dimension());
        private final Parameter<Elements> elements = constant(
                "element_type",
                Elements.FLOAT,
                Elements.class,
                settings -> settings.shape().elements());
        private final Parameter<VectorSimilarityFunction> similarity = constant(
                "similarity",
                VectorSimilarityFunction.COSINE,
                VectorSimilarityFunction.class,
                settings -> settings.shape().similarity());
        private final Parameter<FieldFormat> format =
                constant("format", FieldFormat.ROOST, FieldFormat.class, Settings::format);
        private final Parameter<Integer> m =
                number("m", RoostVectorsFormat.DEFAULT_MAX_CONN, RoostVectorsFormat.MAX_MAX_CONN, Settings::m);
        private final Parameter<Integer> efConstruction = number(
                "ef_construction",
                RoostVectorsFormat.DEFAULT_BEAM_WIDTH,
                RoostVectorsFormat.MAX_BEAM_WIDTH,
                Settings::efConstruction);
        /** May be updated: only searches use it, segments do not depend on it. */
        private final Parameter<@Nullable FieldAttributes> attributes = new Parameter<@Nullable FieldAttributes>(
                        FieldAttributes.NAME,
                        true,
                        () -> null,
                        (field, context, value) -> FieldAttributes.parse(value),
                        mapper -> RoostVectorMapper.of(mapper).attributes())
                .setSerializer(FieldAttributes::write, String::valueOf);

        private final Parameter<Map<String, String>> meta = Parameter.metaParam();

        private final GraphBuilds builds;

        Builder(String name, GraphBuilds builds) {
            super(name);
            this.builds = builds;
        }

        @Override
        protected List<Parameter<?>> getParameters() {
            return List.of(dimension, elements, similarity, format, m, efConstruction, attributes, meta);
        }

        @Override
        public ParametrizedFieldMapper build(Mapper.BuilderContext context) {
            String fullName = buildFullName(context);
            if (dimension.get() == 0) {
                throw new MapperParsingException(
                        "field [" + fullName + "] of type roost_vector needs a dimension between 1 and "
                                + format.get().maxDimensions());
            }
            if (dimension.get() > format.get().maxDimensions()) {
                throw new MapperParsingException("dimension of field [" + fullName + "] must be between 1 and "
                        + format.get().maxDimensions() + " with format " + RoostSettings.name(format.get()) + ", got "
                        + dimension.get());
            }
            if (format.get().isQuantized() && elements.get() != Elements.FLOAT) {
                throw new MapperParsingException("element_type of field [" + fullName + "] must be float with format "
                        + RoostSettings.name(format.get()) + ", got " + RoostSettings.name(elements.get()));
            }
            VectorShape shape = new VectorShape(dimension.get(), elements.get(), similarity.get());
            Settings settings =
                    new Settings(shape, format.get(), m.get(), efConstruction.get(), attributes.get(), meta.get());
            RoostVectorType type = new RoostVectorType(
                    fullName,
                    shape,
                    format.get(),
                    format.get().of(m.get(), efConstruction.get(), builds),
                    attributes.get(),
                    meta.get());
            return new RoostVectorMapper(
                    name, type, settings, builds, multiFieldsBuilder.build(this, context), copyTo.build());
        }

        private static Parameter<Integer> number(String name, int byDefault, int max, Function<Settings, Integer> of) {
            return new Parameter<>(
                    name,
                    false,
                    () -> byDefault,
                    (field, context, value) -> wholeNumber(name, value, max),
                    mapper -> of.apply(RoostVectorMapper.of(mapper)));
        }

        private static int wholeNumber(String name, Object value, int max) {
            if (value instanceof Integer number && number >= 1 && number <= max) {
                return number;
            }
            throw new MapperParsingException(name + " must be a whole number between 1 and " + max + ", got " + value);
        }

        private static <E extends Enum<E>> Parameter<E> constant(
                String name, E byDefault, Class<E> constants, Function<Settings, E> of) {
            return new Parameter<>(
                            name,
                            false,
                            () -> byDefault,
                            (field, context, value) -> RoostSettings.constant(name, String.valueOf(value), constants),
                            mapper -> of.apply(RoostVectorMapper.of(mapper)))
                    .setSerializer(
                            (builder, key, value) -> builder.field(key, RoostSettings.name(value)),
                            RoostSettings::name);
        }
    }
}
