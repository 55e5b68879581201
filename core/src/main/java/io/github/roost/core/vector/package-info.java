/** What every index of vectors has in common: the table, the request, the result. */
@NullMarked
package io.github.roost.core.vector;

import org.jspecify.annotations.NullMarked;
