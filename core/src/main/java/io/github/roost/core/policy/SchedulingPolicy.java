package io.github.roost.core.policy;

/**
 * The policy of task dispatch and stealing, chosen when an orchestrator is built. The first two are the baselines of the paper
 * (Huang et al., 2026: V0 and V1), the third its design (V2), the last its design without a gate (Algorithm 2 as published).
 */
public enum SchedulingPolicy {
    /** Round robin over all workers, no stealing (V0). */
    ROUND_ROBIN(false, Reach.WORKER, false),
    /** Round robin over all workers; an idle worker steals from any other, blind to the topology (V1). */
    WORK_STEALING(false, Reach.MACHINE, false),
    /** Dispatch to a worker of the mapping id's home domain; stealing inside the domain first, across domains through a gate (V2). */
    HOME_DOMAIN(true, Reach.DOMAIN, true),
    /** As {@link #HOME_DOMAIN}, but any idle worker may steal across domains at any time (Algorithm 2 of the paper). */
    HOME_DOMAIN_UNGATED(true, Reach.DOMAIN, false);

    /** The set of workers that may run a task without asking the gate. */
    public enum Reach {
        /** Only the worker whose ring it is in. */
        WORKER,
        /** Any worker of the same domain. */
        DOMAIN,
        /** Any worker. */
        MACHINE
    }

    private final boolean homes;
    private final Reach reach;
    private final boolean gated;

    SchedulingPolicy(boolean homes, Reach reach, boolean gated) {
        this.homes = homes;
        this.reach = reach;
        this.gated = gated;
    }

    /** {@return whether tasks are dispatched to the home of their mapping id, and homes move with the traffic} */
    public boolean usesHomes() {
        return homes;
    }

    /** {@return which workers may run a task without asking the gate} */
    public Reach reach() {
        return reach;
    }

    /** {@return whether a task crosses domains only through the {@link CrossDomainGate}} */
    public boolean gated() {
        return gated;
    }
}
