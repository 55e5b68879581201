package io.github.roost.core.policy;

/**
 * The rule by which a worker may steal a task from another cache domain. A task that crosses runs on a cold cache and evicts data
 * there, so a task that its own domain runs soon is left to it; but no task should wait for long beside an idle core. So an idle
 * worker takes tasks of another domain that have waited for {@code ageNanos}, or for the time that a mean task of that domain was
 * measured to lose by crossing if that is longer. Ages are known from looks at the queues: a task may have waited for one and a half
 * times as long, and for the intervals of three looks, before it crosses.
 *
 * @param ageNanos minimum waiting time of a task that crosses, in nanoseconds, at least 0; {@link Long#MAX_VALUE}: none crosses
 */
public record CrossDomainGate(long ageNanos) {
    /** 20 microseconds; compared in {@code ./roost sim --matrix}. */
    public static final CrossDomainGate DEFAULT = new CrossDomainGate(20_000);

    /** Checks the time. */
    public CrossDomainGate {
        if (ageNanos < 0) {
            throw new IllegalArgumentException("age must be at least 0 ns, got " + ageNanos);
        }
    }
}
