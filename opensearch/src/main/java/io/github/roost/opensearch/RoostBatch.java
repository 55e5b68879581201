package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.action.ActionType;
import org.opensearch.action.support.broadcast.BroadcastRequest;
import org.opensearch.action.support.broadcast.BroadcastResponse;
import org.opensearch.action.support.broadcast.BroadcastShardRequest;
import org.opensearch.action.support.broadcast.BroadcastShardResponse;
import org.opensearch.core.action.support.DefaultShardOperationFailedException;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.common.io.stream.Writeable;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.xcontent.MediaTypeRegistry;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.search.internal.AliasFilter;

/** The messages of a batch of searches, which returns one list of hits per vector. Stateless. */
final class RoostBatch {
    static final ActionType<Response> ACTION = new ActionType<>("indices:data/read/roost/search", Response::new);

    private RoostBatch() {}

    /**
     * A hit.
     *
     * @param source the document's source; null if it was not requested or does not exist
     */
    record Hit(
            String index, String id, float score, @Nullable BytesReference source) implements Writeable {
        Hit(StreamInput in) throws IOException {
            this(in.readString(), in.readString(), in.readFloat(), in.readOptionalBytesReference());
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            out.writeString(index);
            out.writeString(id);
            out.writeFloat(score);
            out.writeOptionalBytesReference(source);
        }

        @SuppressWarnings("deprecation") // OpenSearch writes its own hits like this
        private void write(XContentBuilder builder) throws IOException {
            builder.startObject().field("_index", index).field("_id", id).field("_score", score);
            if (source != null) {
                builder.rawField("_source", source.streamInput(), MediaTypeRegistry.xContentType(source));
            }
            builder.endObject();
        }
    }

    private static RoostKnnQueryBuilder readQuery(StreamInput in) throws IOException {
        return (RoostKnnQueryBuilder) in.readNamedWriteable(QueryBuilder.class);
    }

    private static void writeHits(StreamOutput out, List<List<Hit>> hits) throws IOException {
        out.writeCollection(hits, (to, list) -> to.writeList(list));
    }

    private static List<List<Hit>> readHits(StreamInput in) throws IOException {
        return in.readList(from -> from.readList(Hit::new));
    }

    /** The request to indexes. */
    static final class Request extends BroadcastRequest<Request> {
        private final RoostKnnQueryBuilder query;
        private final boolean source;

        /**
         * Creates a request.
         *
         * @param query the query; each of its vectors yields one list of hits
         * @param source whether hits include their documents' sources
         */
        Request(String[] indexes, RoostKnnQueryBuilder query, boolean source) {
            super(indexes);
            this.query = query;
            this.source = source;
        }

        Request(StreamInput in) throws IOException {
            super(in);
            this.query = readQuery(in);
            this.source = in.readBoolean();
        }

        RoostKnnQueryBuilder query() {
            return query;
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeNamedWriteable(query);
            out.writeBoolean(source);
        }

        @Override
        public @Nullable ActionRequestValidationException validate() {
            return null;
        }
    }

    /** The request to one shard. */
    static final class ShardRequest extends BroadcastShardRequest {
        private final RoostKnnQueryBuilder query;
        private final boolean source;
        private final AliasFilter alias;

        ShardRequest(ShardId shard, Request request, AliasFilter alias) {
            super(shard, request);
            this.query = request.query;
            this.source = request.source;
            this.alias = alias;
        }

        ShardRequest(StreamInput in) throws IOException {
            super(in);
            this.query = readQuery(in);
            this.source = in.readBoolean();
            this.alias = new AliasFilter(in);
        }

        RoostKnnQueryBuilder query() {
            return query;
        }

        boolean source() {
            return source;
        }

        /** The filter of the aliases by which the request named the index; null for none. */
        @Nullable
        QueryBuilder alias() {
            return alias.getQueryBuilder();
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeNamedWriteable(query);
            out.writeBoolean(source);
            alias.writeTo(out);
        }
    }

    /** The hits of one shard. */
    static final class ShardResponse extends BroadcastShardResponse {
        private final List<List<Hit>> hits;

        ShardResponse(ShardId shard, List<List<Hit>> hits) {
            super(shard);
            this.hits = hits;
        }

        ShardResponse(StreamInput in) throws IOException {
            super(in);
            this.hits = readHits(in);
        }

        List<List<Hit>> hits() {
            return hits;
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            writeHits(out, hits);
        }
    }

    /** The merged hits of all shards. */
    static final class Response extends BroadcastResponse {
        private final List<List<Hit>> hits;

        Response(int shards, List<List<Hit>> hits) {
            super(shards, shards, 0, List.<DefaultShardOperationFailedException>of());
            this.hits = hits;
        }

        Response(StreamInput in) throws IOException {
            super(in);
            this.hits = readHits(in);
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            writeHits(out, hits);
        }

        @Override
        protected void addCustomXContentFields(XContentBuilder builder, Params params) throws IOException {
            builder.startArray("results");
            for (List<Hit> list : hits) {
                builder.startObject().startArray("hits");
                for (Hit hit : list) {
                    hit.write(builder);
                }
                builder.endArray().endObject();
            }
            builder.endArray();
        }
    }
}
