package io.github.roost.opensearch;

import org.opensearch.common.inject.Inject;
import org.opensearch.common.lifecycle.AbstractLifecycleComponent;
import org.opensearch.tasks.TaskResourceTrackingService;

/**
 * Lets the slices on workers count for OpenSearch's tasks, and so for search backpressure and workload management. Public because
 * OpenSearch creates it: only its injector knows the service that counts. Thread-safe.
 */
public final class SliceTracking extends AbstractLifecycleComponent {
    /**
     * Called by OpenSearch when a node starts.
     *
     * @param node the Roost state of this node
     * @param tasks counts what threads do for tasks
     */
    @Inject
    public SliceTracking(RoostNode node, TaskResourceTrackingService tasks) {
        node.tasks(tasks);
    }

    @Override
    protected void doStart() {}

    @Override
    protected void doStop() {}

    @Override
    protected void doClose() {}
}
