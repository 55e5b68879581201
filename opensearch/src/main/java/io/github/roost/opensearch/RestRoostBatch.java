package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.common.ParsingException;
import org.opensearch.core.common.Strings;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.core.xcontent.XContentParser.Token;
import org.opensearch.index.query.AbstractQueryBuilder;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestCancellableNodeClient;
import org.opensearch.rest.action.RestToXContentListener;
import org.opensearch.search.SearchService;
import org.opensearch.transport.client.node.NodeClient;

/**
 * {@code POST _plugins/_roost/search/INDEX} with {@code {"query": {"roost_knn": {"FIELD": {"vectors": [...]}}}, "_source": true,
 * "timeout": "1s"}}: returns one list of hits per vector.
 */
final class RestRoostBatch extends BaseRestHandler {
    private static final String QUERY = "query";
    private static final String SOURCE = "_source";
    private static final String TIMEOUT = "timeout";

    private final ClusterSettings settings;

    RestRoostBatch(ClusterSettings settings) {
        this.settings = settings;
    }

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
        // Canceled when the client goes away.
        RestCancellableNodeClient cancellable = new RestCancellableNodeClient(client, request.getHttpChannel());
        return channel -> cancellable.execute(RoostBatch.ACTION, batch, new RestToXContentListener<>(channel));
    }

    private RoostBatch.Request parse(String[] indexes, XContentParser parser) throws IOException {
        RoostKnnQueryBuilder query = null;
        boolean source = false;
        TimeValue timeout = settings.get(SearchService.DEFAULT_SEARCH_TIMEOUT_SETTING);
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
                case TIMEOUT -> {
                    if (!parser.currentToken().isValue()) {
                        throw new ParsingException(
                                parser.getTokenLocation(),
                                "timeout must be a time such as 500ms, got " + parser.currentToken());
                    }
                    timeout = TimeValue.parseTimeValue(parser.text(), TIMEOUT);
                }
                default ->
                    throw new ParsingException(
                            parser.getTokenLocation(),
                            "a batch must have query, _source and timeout, got [" + name + "]");
            }
        }
        if (parser.nextToken() != null) {
            throw new ParsingException(parser.getTokenLocation(), "a batch must end after its object");
        }
        if (query == null) {
            throw new ParsingException(parser.getTokenLocation(), "a batch must have a query, got none");
        }
        return new RoostBatch.Request(indexes, query, source, timeout);
    }
}
