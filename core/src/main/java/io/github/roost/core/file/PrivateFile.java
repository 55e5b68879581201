package io.github.roost.core.file;

import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** Files that are their owner's alone, for authors of indexes. Stateless. */
public final class PrivateFile {
    private PrivateFile() {}

    /**
     * What a file is created with, so that nobody but its owner may ever read or write it.
     *
     * @param path where it is going to be
     * @return the attributes; none where the file system has no such permissions
     */
    public static FileAttribute<?>[] attributes(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[] {};
    }
}
