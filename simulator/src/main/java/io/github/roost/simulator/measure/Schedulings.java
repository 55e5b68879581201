package io.github.roost.simulator.measure;

import io.github.roost.core.policy.SchedulingPolicy;
import java.util.List;
import java.util.Optional;

/**
 * The names of scheduling policies on command lines and in reports, taken from the paper. The paper's V2 lets any idle worker steal across domains,
 * as in its Algorithm 2; with the gate described in its text the policy is {@code v2-gated}. Stateless.
 */
public final class Schedulings {
    private record Named(String name, SchedulingPolicy policy) {}

    private static final List<Named> ALL = List.of(
            new Named("v0", SchedulingPolicy.ROUND_ROBIN),
            new Named("v1", SchedulingPolicy.WORK_STEALING),
            new Named("v2", SchedulingPolicy.HOME_DOMAIN_UNGATED),
            new Named("v2-gated", SchedulingPolicy.HOME_DOMAIN_GATED));

    /** All names; {@code v0}, the baseline, is first. */
    public static final List<String> NAMES = ALL.stream().map(Named::name).toList();

    private Schedulings() {}

    /** Returns the policy of a name; empty if the name is not in {@link #NAMES}. */
    public static Optional<SchedulingPolicy> named(String name) {
        return ALL.stream()
                .filter(named -> named.name.equals(name))
                .map(Named::policy)
                .findFirst();
    }
}
