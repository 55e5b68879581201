package io.github.roost.core.task;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The parts and groups that are parked, by their requests: when a request ends, they resume unless they are needed by another. A part that resumes is
 * forgotten, so a request of many rounds keeps none of them. Thread-safe.
 */
public final class ParkedParts {
    private final Map<Request<?, ?>, Set<Parked>> ofRequests = new ConcurrentHashMap<>();

    /**
     * Adds what waits for one of a request's parts. If the request has ended, it may miss that: the caller then asks whether what waits is
     * unneeded.
     */
    void add(Request<?, ?> request, Parked part) {
        Set<Parked> known = ofRequests.get(request);
        if (known == null) {
            Set<Parked> fresh = ConcurrentHashMap.newKeySet();
            known = ofRequests.putIfAbsent(request, fresh);
            if (known == null) {
                fresh.add(part);
                var _ = request.whenComplete((result, failure) -> ended(request));
                return;
            }
        }
        known.add(part);
    }

    void remove(Request<?, ?> request, Parked part) {
        Set<Parked> known = ofRequests.get(request);
        if (known != null) {
            known.remove(part);
        }
    }

    private void ended(Request<?, ?> request) {
        Set<Parked> parts = ofRequests.remove(request);
        if (parts != null) {
            parts.forEach(Parked::resumeIfUnneeded);
        }
    }
}
