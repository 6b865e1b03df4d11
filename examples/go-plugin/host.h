/*
 * Calls of the host's functions. Go cannot call a function by its address, so C does. Texts are passed as an address and a
 * length, because C must not get a struct of Go's memory that has addresses in it.
 */
#ifndef HOST_H
#define HOST_H

#include "divvy_plugin.h"

/* Passes the reason for rejecting the cluster in a row to the host, and returns its code; 0 if the host takes none. */
static inline uint32_t host_reason(const divvy_services *services, const void *sink, uint32_t row, const uint8_t *text,
                                   uint64_t length)
{
    const divvy_text reason = {DIVVY_ADDRESS(text), length};
    return services->text == NULL ? 0 : services->text(sink, DIVVY_TEXT_REASON, row, reason);
}

/* Passes a failure to the host, and returns its code. */
static inline uint32_t host_fail(const divvy_services *services, const void *sink, uint32_t code, const uint8_t *message,
                                 uint64_t message_length, const uint8_t *path, uint64_t path_length)
{
    divvy_failure failure = divvy_new_failure(code);
    failure.message.data = message;
    failure.message.length = message_length;
    failure.path.data = path;
    failure.path.length = path_length;
    if (services->fail != NULL) {
        services->fail(sink, &failure);
    }
    return code;
}

#endif
