/*
 * What no rule changes: failures, construction, and the tables by which the scheduler finds the plugin. plugin.c includes this
 * file and ends with EXPORT_PLUGIN or EXPORT_STRATEGY.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <string.h>

#include "divvy_plugin.h"

/* Hands a failure to the host and returns its code. For one that is not about room, the counts are -1. */
static inline uint32_t fail(const divvy_services *services, void *sink, uint32_t code, const char *message,
                            int64_t requested, int64_t available)
{
    divvy_failure failure = divvy_new_failure(code);
    failure.message.data = (const uint8_t *)message;
    failure.message.length = strlen(message);
    failure.requested = requested;
    failure.available = available;
    if (services->fail != NULL) {
        services->fail(sink, &failure);
    }
    return code;
}

/* The plugin has no settings and no state, so the services of the host are its instance. */
static inline uint32_t construct(divvy_construct_call *call)
{
    const divvy_text given = call->configuration;
    if (given.length != 2 || memcmp(given.data, "{}", 2) != 0) {
        return fail(call->services, call->sink, DIVVY_FAILURE_CONFIGURATION, "the plugin has no settings", -1, -1);
    }
    call->instance = (void *)call->services;
    return 0;
}

static inline void destroy(void *services)
{
    (void)services;
}

/* Exports a plugin that answers calls of the type `type`, of the kind `kind`, with `function(services, call)`. */
#define EXPORT_PLUGIN(name, version, description, kind, type, function) \
    EXPORT_WITH(name, version, description, kind, type, function, NULL, 0)

/* Exports a strategy. Its promises are a set of DIVVY_FEATURE_*, which the host checks in every cycle. */
#define EXPORT_STRATEGY(name, version, description, strategy_name, promises, function) \
    static const divvy_strategy_descriptor strategy = DIVVY_STRATEGY(strategy_name, 0, promises); \
    static const divvy_strategy_descriptor *const strategies[] = {&strategy}; \
    EXPORT_WITH(name, version, description, DIVVY_KIND_ASSIGN, divvy_assign_call, function, strategies, 1)

#define EXPORT_WITH(name, version, description, call_kind, type, function, strategies_, strategy_count) \
    static uint32_t answer(const void *services, divvy_call_head *call) \
    { \
        if (call->kind != call_kind) { \
            return DIVVY_FAILURE_NOT_SERVED; \
        } \
        return function((const divvy_services *)services, (type *)call); \
    } \
    static const divvy_point_descriptor point = DIVVY_POINT(call_kind, 0, 0, 0, 0); \
    static const divvy_point_descriptor *const points[] = {&point}; \
    static const divvy_descriptor descriptor = \
        DIVVY_DESCRIPTOR(name, version, description, points, 1, strategies_, strategy_count, construct, destroy, \
                         answer, NULL); \
    static const divvy_descriptor *const plugins[] = {&descriptor}; \
    const divvy_library divvy_plugin_v1 = DIVVY_LIBRARY(plugins, 1); \
    DIVVY_RECORD(record, 0, "c", name, version)

#endif
