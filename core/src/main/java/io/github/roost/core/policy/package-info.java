/** The scheduling options of an orchestrator: how tasks are dispatched and stolen, when they cross domains, when workers sleep. */
@NullMarked
package io.github.roost.core.policy;

import org.jspecify.annotations.NullMarked;
