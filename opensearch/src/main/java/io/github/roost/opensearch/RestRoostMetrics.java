package io.github.roost.opensearch;

import java.util.List;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestResponse;
import org.opensearch.rest.action.RestResponseListener;
import org.opensearch.transport.client.node.NodeClient;

/** {@code GET _plugins/_roost/metrics}: the statistics of the receiving node, in Prometheus' text format. */
final class RestRoostMetrics extends BaseRestHandler {
    private final RoostNode node;

    RestRoostMetrics(RoostNode node) {
        this.node = node;
    }

    @Override
    public String getName() {
        return "roost_metrics";
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route(Method.GET, "/_plugins/_roost/metrics"));
    }

    /** Asks for the node's statistics first: OpenSearch checks a user's permissions where an action runs, and not here. */
    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        return channel -> client.execute(
                RoostStats.ACTION, new RoostStats.Request("_local"), new RestResponseListener<>(channel) {
                    @Override
                    public RestResponse buildResponse(RoostStats.Response allowed) {
                        return new BytesRestResponse(
                                RestStatus.OK,
                                PrometheusText.CONTENT_TYPE,
                                PrometheusText.of(node.orchestrator().stats()));
                    }
                });
    }
}
