package io.github.roost.bench;

import io.github.roost.core.policy.SchedulingPolicy;
import java.util.List;
import java.util.Optional;

/**
 * What scheduling policies are called on command lines and in reports: as the paper calls them. Its V2 lets any idle worker
 * steal across domains, as its Algorithm 2 is published; with the gate that its text asks for it is {@code v2-gated}, which is
 * what an orchestrator does by default. Stateless.
 */
public final class Schedulings {
    private record Named(String name, SchedulingPolicy policy) {}

    private static final List<Named> ALL = List.of(
            new Named("v0", SchedulingPolicy.ROUND_ROBIN),
            new Named("v1", SchedulingPolicy.WORK_STEALING),
            new Named("v2", SchedulingPolicy.HOME_DOMAIN_UNGATED),
            new Named("v2-gated", SchedulingPolicy.HOME_DOMAIN));

    /** All names, the baseline first. */
    public static final List<String> NAMES = ALL.stream().map(Named::name).toList();

    private Schedulings() {}

    /** The policy of a name, if it is one of {@link #NAMES}. */
    public static Optional<SchedulingPolicy> named(String name) {
        return ALL.stream()
                .filter(named -> named.name.equals(name))
                .map(Named::policy)
                .findFirst();
    }
}
