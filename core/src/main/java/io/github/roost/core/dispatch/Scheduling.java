package io.github.roost.core.dispatch;

/** How tasks are dispatched and stolen: the paper's two baselines and its design. */
public enum Scheduling {
    /** Round robin over all workers, no stealing. */
    V0,
    /** Round robin over all workers; an idle worker steals from any other, chosen at random, blind to the topology. */
    V1,
    /** A worker of the mapping id's home domain; stealing inside the domain first, across domains through a gate. */
    V2
}
