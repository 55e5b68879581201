/** The work of requests: tasks, the queues and the room that they wait for, and the futures that they complete. No threads. */
@NullMarked
package io.github.roost.core.task;

import org.jspecify.annotations.NullMarked;
