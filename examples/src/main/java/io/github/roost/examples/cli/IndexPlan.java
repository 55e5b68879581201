package io.github.roost.examples.cli;

import io.github.roost.core.Orchestrator;

/** Which index {@code search} is to build, and how. */
interface IndexPlan {
    /** Refuses options that no base makes right; called before anything is read. */
    void check();

    /** Refuses options that do not fit the base, and settles those left open. */
    void fit(int baseSize, int k);

    /** How many tasks a query becomes, at least 1; known once fitted. */
    int tasksPerQuery();

    /** Builds the index. */
    SearchableIndex build(Orchestrator orchestrator, float[][] base);
}
