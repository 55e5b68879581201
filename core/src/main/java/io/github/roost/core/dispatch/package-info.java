/** Pure decisions over a mapping and a view of load: the worker that a task goes to, and the workers that may take it. */
@NullMarked
package io.github.roost.core.dispatch;

import org.jspecify.annotations.NullMarked;
