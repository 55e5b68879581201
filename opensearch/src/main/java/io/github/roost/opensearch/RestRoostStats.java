package io.github.roost.opensearch;

import java.util.List;
import org.opensearch.core.common.Strings;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestActions;
import org.opensearch.transport.client.node.NodeClient;

/** {@code GET _plugins/_roost/stats}: the statistics of all nodes; {@code GET _plugins/_roost/NODES/stats}: of some nodes. */
final class RestRoostStats extends BaseRestHandler {
    @Override
    public String getName() {
        return "roost_stats";
    }

    @Override
    public List<Route> routes() {
        return List.of(
                new Route(Method.GET, "/_plugins/_roost/stats"),
                new Route(Method.GET, "/_plugins/_roost/{nodes}/stats"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        RoostStats.Request requested =
                new RoostStats.Request(Strings.splitStringByCommaToArray(request.param("nodes")));
        return channel ->
                client.execute(RoostStats.ACTION, requested, new RestActions.NodesResponseRestListener<>(channel));
    }
}
