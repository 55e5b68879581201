/** Where a task goes and who may take it: pure decisions over a mapping and a view of load. */
@NullMarked
package io.github.roost.core.dispatch;

import org.jspecify.annotations.NullMarked;
