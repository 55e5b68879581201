package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import org.opensearch.action.FailedNodeException;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.nodes.TransportNodesAction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Transport action that collects the statistics of nodes. Public because OpenSearch creates it. Thread-safe. */
public final class TransportRoostStats
        extends TransportNodesAction<
                RoostStats.Request, RoostStats.Response, RoostStats.NodeRequest, RoostStats.NodeResponse> {
    private final RoostNode node;

    /**
     * Called by OpenSearch.
     *
     * @param threadPool runs the action
     * @param clusterService provides the nodes of the cluster
     * @param transportService sends messages to nodes
     * @param filters action filters
     * @param node the Roost state of this node
     */
    @Inject
    public TransportRoostStats(
            ThreadPool threadPool,
            ClusterService clusterService,
            TransportService transportService,
            ActionFilters filters,
            RoostNode node) {
        super(
                RoostStats.ACTION.name(),
                threadPool,
                clusterService,
                transportService,
                filters,
                RoostStats.Request::new,
                RoostStats.NodeRequest::new,
                ThreadPool.Names.MANAGEMENT,
                RoostStats.NodeResponse.class);
        this.node = node;
    }

    @Override
    protected RoostStats.Response newResponse(
            RoostStats.Request request, List<RoostStats.NodeResponse> nodes, List<FailedNodeException> failures) {
        return new RoostStats.Response(clusterService.getClusterName(), nodes, failures);
    }

    @Override
    protected RoostStats.NodeRequest newNodeRequest(RoostStats.Request request) {
        return new RoostStats.NodeRequest();
    }

    @Override
    protected RoostStats.NodeResponse newNodeResponse(StreamInput in) throws IOException {
        return new RoostStats.NodeResponse(in);
    }

    @Override
    protected RoostStats.NodeResponse nodeOperation(RoostStats.NodeRequest request) {
        return new RoostStats.NodeResponse(clusterService.localNode(), NodeReport.of(node));
    }
}
