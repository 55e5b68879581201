/** The homes of mapping ids: immutable snapshots, and the policies that propose the next one. */
@NullMarked
package io.github.roost.core.mapping;

import org.jspecify.annotations.NullMarked;
