package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.action.ActionType;
import org.opensearch.action.ValidateActions;
import org.opensearch.action.search.SearchShardTask;
import org.opensearch.action.search.SearchTask;
import org.opensearch.action.support.broadcast.BroadcastRequest;
import org.opensearch.action.support.broadcast.BroadcastResponse;
import org.opensearch.action.support.broadcast.BroadcastShardRequest;
import org.opensearch.action.support.broadcast.BroadcastShardResponse;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.action.support.DefaultShardOperationFailedException;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.common.io.stream.Writeable;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.core.xcontent.MediaTypeRegistry;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.internal.AliasFilter;
import org.opensearch.search.internal.ShardSearchRequest;
import org.opensearch.tasks.Task;

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
        private final TimeValue timeout;

        /**
         * Creates a request.
         *
         * @param query the query; each of its vectors yields one list of hits
         * @param source whether hits include their documents' sources
         * @param timeout after which a shard answers with the hits found so far
         */
        Request(String[] indexes, RoostKnnQueryBuilder query, boolean source, TimeValue timeout) {
            super(indexes);
            this.query = query;
            this.source = source;
            this.timeout = timeout;
        }

        Request(StreamInput in) throws IOException {
            super(in);
            this.query = readQuery(in);
            this.source = in.readBoolean();
            this.timeout = in.readTimeValue();
        }

        RoostKnnQueryBuilder query() {
            return query;
        }

        /** The same request with another query. */
        Request with(RoostKnnQueryBuilder other) {
            return new Request(indices(), other, source, timeout);
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeNamedWriteable(query);
            out.writeBoolean(source);
            out.writeTimeValue(timeout);
        }

        @Override
        public @Nullable ActionRequestValidationException validate() {
            for (String index : indices()) {
                // A name in angle brackets is a date, whose time zone has a colon.
                if (index.indexOf(':') >= 0 && !index.startsWith("<")) {
                    return ValidateActions.addValidationError(
                            "a batch must name indexes of its own cluster, got [" + index + "]", null);
                }
            }
            return query.wantsAllNear()
                    ? ValidateActions.addValidationError(
                            "a batch must have k: it cannot return all documents near enough", null)
                    : null;
        }

        /** A task that can be canceled, as OpenSearch's own searches have. */
        @Override
        public Task createTask(long id, String type, String action, TaskId parent, Map<String, String> headers) {
            return new SearchTask(id, type, action, () -> query.describe(String.join(",", indices())), parent, headers);
        }
    }

    /** The request to one shard. */
    static final class ShardRequest extends BroadcastShardRequest {
        private final RoostKnnQueryBuilder query;
        private final boolean source;
        private final TimeValue timeout;

        /**
         * Creates a request.
         *
         * @param query with the filters of the aliases by which the index was named
         */
        ShardRequest(ShardId shard, Request request, RoostKnnQueryBuilder query) {
            super(shard, request);
            this.query = query;
            this.source = request.source;
            this.timeout = request.timeout;
        }

        ShardRequest(StreamInput in) throws IOException {
            super(in);
            this.query = readQuery(in);
            this.source = in.readBoolean();
            this.timeout = in.readTimeValue();
        }

        RoostKnnQueryBuilder query() {
            return query;
        }

        boolean source() {
            return source;
        }

        TimeValue timeout() {
            return timeout;
        }

        /** This request as OpenSearch's statistics and slow log see it. */
        ShardSearchRequest search() {
            ShardSearchRequest search =
                    new ShardSearchRequest(shardId(), System.currentTimeMillis(), AliasFilter.EMPTY);
            search.source(new SearchSourceBuilder().query(query));
            return search;
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeNamedWriteable(query);
            out.writeBoolean(source);
            out.writeTimeValue(timeout);
        }

        @Override
        public Task createTask(long id, String type, String action, TaskId parent, Map<String, String> headers) {
            return new SearchShardTask(
                    id, type, action, query.describe(shardId().toString()), parent, headers);
        }
    }

    /** The hits of one shard. */
    static final class ShardResponse extends BroadcastShardResponse {
        private final boolean timedOut;
        private final List<List<Hit>> hits;

        /**
         * Creates a response.
         *
         * @param timedOut whether hits may be missing because of the timeout
         */
        ShardResponse(ShardId shard, boolean timedOut, List<List<Hit>> hits) {
            super(shard);
            this.timedOut = timedOut;
            this.hits = hits;
        }

        ShardResponse(StreamInput in) throws IOException {
            super(in);
            this.timedOut = in.readBoolean();
            this.hits = readHits(in);
        }

        boolean timedOut() {
            return timedOut;
        }

        List<List<Hit>> hits() {
            return hits;
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeBoolean(timedOut);
            writeHits(out, hits);
        }
    }

    /** The merged hits of all shards. */
    static final class Response extends BroadcastResponse {
        private final boolean timedOut;
        private final List<List<Hit>> hits;

        Response(int shards, boolean timedOut, List<List<Hit>> hits) {
            super(shards, shards, 0, List.<DefaultShardOperationFailedException>of());
            this.timedOut = timedOut;
            this.hits = hits;
        }

        Response(StreamInput in) throws IOException {
            super(in);
            this.timedOut = in.readBoolean();
            this.hits = readHits(in);
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeBoolean(timedOut);
            writeHits(out, hits);
        }

        @Override
        protected void addCustomXContentFields(XContentBuilder builder, Params params) throws IOException {
            builder.field("timed_out", timedOut).startArray("results");
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
