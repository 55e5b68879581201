package io.github.roost.opensearch;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opensearch.action.ActionType;
import org.opensearch.action.FailedNodeException;
import org.opensearch.action.support.nodes.BaseNodeResponse;
import org.opensearch.action.support.nodes.BaseNodesRequest;
import org.opensearch.action.support.nodes.BaseNodesResponse;
import org.opensearch.cluster.ClusterName;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.ToXContentFragment;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.transport.TransportRequest;

/** The messages of the statistics action. Stateless. */
final class RoostStats {
    static final ActionType<Response> ACTION = new ActionType<>("cluster:monitor/roost/stats", Response::new);

    private RoostStats() {}

    /** The request to some or all nodes. */
    static final class Request extends BaseNodesRequest<Request> {
        Request(String... nodes) {
            super(nodes);
        }

        Request(StreamInput in) throws IOException {
            super(in);
        }
    }

    /** The request to one node. */
    static final class NodeRequest extends TransportRequest {
        NodeRequest() {}

        NodeRequest(StreamInput in) throws IOException {
            super(in);
        }
    }

    /** A node's statistics as names and values, so that nodes of different versions can exchange them. */
    static final class NodeResponse extends BaseNodeResponse {
        private final Map<String, Object> values;

        NodeResponse(DiscoveryNode node, Map<String, Object> values) {
            super(node);
            this.values = values;
        }

        NodeResponse(StreamInput in) throws IOException {
            super(in);
            this.values = in.readMap();
        }

        @Override
        public void writeTo(StreamOutput out) throws IOException {
            super.writeTo(out);
            out.writeMap(values);
        }
    }

    /** The statistics of all asked nodes. */
    static final class Response extends BaseNodesResponse<NodeResponse> implements ToXContentFragment {
        Response(ClusterName cluster, List<NodeResponse> nodes, List<FailedNodeException> failures) {
            super(cluster, nodes, failures);
        }

        Response(StreamInput in) throws IOException {
            super(in);
        }

        @Override
        protected List<NodeResponse> readNodesFrom(StreamInput in) throws IOException {
            return in.readList(NodeResponse::new);
        }

        @Override
        protected void writeNodesTo(StreamOutput out, List<NodeResponse> nodes) throws IOException {
            out.writeList(nodes);
        }

        @Override
        public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
            builder.startObject("nodes");
            for (NodeResponse node : getNodes()) {
                builder.startObject(node.getNode().getId())
                        .field("name", node.getNode().getName());
                for (Map.Entry<String, Object> value : node.values.entrySet()) {
                    builder.field(value.getKey(), value.getValue());
                }
                builder.endObject();
            }
            return builder.endObject();
        }
    }
}
