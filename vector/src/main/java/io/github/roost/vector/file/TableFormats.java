package io.github.roost.vector.file;

import io.github.roost.vector.TableFormat;
import java.util.List;

/**
 * The formats of the files of one module, a service that {@link TableFormat} finds with {@link java.util.ServiceLoader}. A module of Roost
 * names its provider twice: in its module descriptor, and for class paths in {@code META-INF/services}.
 */
@FunctionalInterface
public interface TableFormats {
    /** {@return the formats, each with first bytes of its own} */
    List<TableFormat> formats();
}
