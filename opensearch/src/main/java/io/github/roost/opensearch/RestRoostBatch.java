package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import org.opensearch.core.common.ParsingException;
import org.opensearch.core.common.Strings;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.core.xcontent.XContentParser.Token;
import org.opensearch.index.query.AbstractQueryBuilder;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestToXContentListener;
import org.opensearch.transport.client.node.NodeClient;

/**
 * {@code POST _plugins/_roost/search/INDEX} with {@code {"query": {"roost_knn": {"FIELD": {"vectors": [...]}}}, "_source": true}}:
 * returns one list of hits per vector.
 */
final class RestRoostBatch extends BaseRestHandler {
    private static final String QUERY = "query";
    private static final String SOURCE = "_source";

    @Override
    public String getName() {
        return "roost_batch";
    }

    @Override
    public List<Route> routes() {
        return List.of(
                new Route(Method.POST, "/_plugins/_roost/search/{index}"),
                new Route(Method.GET, "/_plugins/_roost/search/{index}"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) throws IOException {
        String[] indexes = Strings.splitStringByCommaToArray(request.param("index"));
        RoostBatch.Request batch;
        try (XContentParser parser = request.contentParser()) {
            batch = parse(indexes, parser);
        }
        return channel -> client.execute(RoostBatch.ACTION, batch, new RestToXContentListener<>(channel));
    }

    private static RoostBatch.Request parse(String[] indexes, XContentParser parser) throws IOException {
        RoostKnnQueryBuilder query = null;
        boolean source = false;
        if (parser.nextToken() != Token.START_OBJECT) {
            throw new ParsingException(parser.getTokenLocation(), "a batch must be an object with a query");
        }
        while (parser.nextToken() != Token.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case QUERY -> {
                    if (AbstractQueryBuilder.parseInnerQueryBuilder(parser) instanceof RoostKnnQueryBuilder knn) {
                        query = knn;
                    } else {
                        throw new ParsingException(
                                parser.getTokenLocation(), "every query of a batch must be a roost_knn query");
                    }
                }
                case SOURCE -> source = parser.booleanValue();
                default ->
                    throw new ParsingException(
                            parser.getTokenLocation(), "a batch must have query and _source, got [" + name + "]");
            }
        }
        if (query == null) {
            throw new ParsingException(parser.getTokenLocation(), "a batch must have a query, got none");
        }
        return new RoostBatch.Request(indexes, query, source);
    }
}
