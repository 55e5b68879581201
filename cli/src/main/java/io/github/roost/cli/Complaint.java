package io.github.roost.cli;

import io.github.roost.affinity.CpuReservation;
import io.github.roost.simulator.measure.SearchFailedException;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.topology.TopologyException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What a failure says to a user: the value and the expectation, without the names of classes. Stateless. */
final class Complaint {
    private Complaint() {}

    /** The message of a failure; of one that is a defect of this program also its class. */
    static String of(Throwable failure) {
        Throwable told = told(failure);
        if (told instanceof FileSystemException refused) {
            return of(refused);
        }
        String message = told.getMessage();
        boolean meantForPeople = told instanceof CommandFailure
                || told instanceof TopologyException
                || told instanceof CpuReservation.RefusedException
                || told instanceof IllegalArgumentException
                || told instanceof IOException;
        return meantForPeople && message != null ? message : told.toString();
    }

    /** The failure that says what has happened, without those that only carry it. */
    static Throwable told(Throwable failure) {
        Throwable cause = failure.getCause();
        if (cause == null) {
            return failure;
        }
        boolean carries = failure instanceof SearchFailedException
                || failure instanceof UncheckedIOException
                || failure instanceof CompletionException
                || failure instanceof ExecutionException
                || cause.toString().equals(failure.getMessage());
        return carries ? told(cause) : failure;
    }

    /** Names the file and the reason, which the JDK's message leaves to the name of the class. */
    private static String of(FileSystemException refused) {
        return refused.getFile() + ": " + reason(refused);
    }

    static String reason(FileSystemException refused) {
        return refused.getReason() != null
                ? refused.getReason()
                : switch (refused) {
                    case NoSuchFileException _ -> "does not exist";
                    case AccessDeniedException _ -> "must not be accessed";
                    case FileAlreadyExistsException _ -> "exists already";
                    case NotDirectoryException _ -> "is no folder";
                    case DirectoryNotEmptyException _ -> "is a folder that is not empty";
                    default -> "cannot be used";
                };
    }
}
