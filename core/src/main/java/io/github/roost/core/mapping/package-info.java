/** Which domain is home to which mapping id: immutable snapshots and the policies that make the next one. */
@NullMarked
package io.github.roost.core.mapping;

import org.jspecify.annotations.NullMarked;
