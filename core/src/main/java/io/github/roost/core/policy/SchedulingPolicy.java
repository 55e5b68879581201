package io.github.roost.core.policy;

/**
 * The policy of task dispatch and stealing, chosen when an orchestrator is built. The first two are the baselines of the paper
 * (Huang et al., 2026: V0 and V1), the third Roost's own, the others the paper's design (V2) with the gate of its text and
 * without a gate (Algorithm 2 as published).
 */
public enum SchedulingPolicy {
    /** Round robin over all workers, no stealing (V0). */
    ROUND_ROBIN(false, Reach.WORKER, Gate.NONE),
    /** Round robin over all workers; an idle worker steals from any other, blind to the topology (V1). */
    WORK_STEALING(false, Reach.MACHINE, Gate.NONE),
    /**
     * Dispatch to a worker of the mapping id's home domain. Stealing inside the domain first, across domains only what has
     * {@linkplain CrossDomainGate waited for long}.
     */
    HOME_DOMAIN(true, Reach.DOMAIN, Gate.AGE),
    /**
     * As {@link #HOME_DOMAIN}, but a task crosses only from a domain with two waiting tasks per worker to a domain whose workers
     * are all idle (V2 of the paper).
     */
    HOME_DOMAIN_GATED(true, Reach.DOMAIN, Gate.BACKLOG),
    /** As {@link #HOME_DOMAIN}, but any idle worker may steal across domains at any time (Algorithm 2 of the paper). */
    HOME_DOMAIN_UNGATED(true, Reach.DOMAIN, Gate.NONE);

    /** The set of workers that may run a task without asking the gate. */
    public enum Reach {
        /** Only the worker whose queue it is in. */
        WORKER,
        /** Any worker of the same domain. */
        DOMAIN,
        /** Any worker. */
        MACHINE
    }

    /** What a task must meet to cross domains. */
    public enum Gate {
        /** Nothing. */
        NONE,
        /** A backlog in its domain, and a thief in a domain whose workers are all idle. */
        BACKLOG,
        /** A long wait. */
        AGE
    }

    private final boolean homes;
    private final Reach reach;
    private final Gate gate;

    SchedulingPolicy(boolean homes, Reach reach, Gate gate) {
        this.homes = homes;
        this.reach = reach;
        this.gate = gate;
    }

    /** {@return whether tasks are dispatched to the home of their mapping id, and homes move with the traffic} */
    public boolean usesHomes() {
        return homes;
    }

    /** {@return which workers may run a task without asking the gate} */
    public Reach reach() {
        return reach;
    }

    /** {@return whether a task crosses domains only through a gate} */
    public boolean gated() {
        return gate != Gate.NONE;
    }

    /** {@return what a task must meet to cross domains} */
    public Gate gate() {
        return gate;
    }
}
