@NullMarked
package io.github.roost.rows.service;

import org.jspecify.annotations.NullMarked;
