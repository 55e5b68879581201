/** A topology as JSON, and as text for a terminal. */
@NullMarked
package io.github.roost.topology.text;

import org.jspecify.annotations.NullMarked;
