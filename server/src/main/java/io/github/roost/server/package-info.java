/** Tables over HTTP: virtual threads in front, an orchestrator's pinned workers behind. */
@NullMarked
package io.github.roost.server;

import org.jspecify.annotations.NullMarked;
