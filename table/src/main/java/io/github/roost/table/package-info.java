/** Hash tables from long keys to payloads, and what is built on them. */
@NullMarked
package io.github.roost.table;

import org.jspecify.annotations.NullMarked;
