/*
 * plugin-name: a score that prefers clusters with a lot of room. rule.c is where it decides.
 */
#include <string.h>

#include "divvy_plugin.h"
#include "rule.h"

/* Hands a failure to the host and returns its code. */
static uint32_t fail(const divvy_services *services, void *sink, uint32_t code, const char *message, int64_t requested,
                     int64_t available)
{
    divvy_failure failure = {DIVVY_HEAD(divvy_failure, DIVVY_KIND_FAILURE)};
    failure.code = code;
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
static uint32_t construct(divvy_construct_call *call)
{
    const divvy_text given = call->configuration;
    if (given.length != 2 || memcmp(given.data, "{}", 2) != 0) {
        return fail(call->services, call->sink, DIVVY_FAILURE_CONFIGURATION, "the plugin has no settings", -1, -1);
    }
    call->instance = (void *)call->services;
    return 0;
}

static void destroy(void *services)
{
    (void)services;
}

/* Scores the feasible clusters. Every score is 0 on entry. */
static uint32_t score(const divvy_services *services, divvy_score_call *call)
{
    (void)services;
    rate(call->capacity.data, call->result.data, call->rows.length);
    return 0;
}

static uint32_t answer(const void *services, divvy_call_head *call)
{
    if (call->kind != DIVVY_KIND_SCORE) {
        return DIVVY_FAILURE_NOT_SERVED;
    }
    return score(services, (divvy_score_call *)call);
}

static const divvy_point_descriptor point = {
    DIVVY_HEAD(divvy_point_descriptor, DIVVY_KIND_POINT), DIVVY_KIND_SCORE, 0, 0, 0,
};
static const divvy_point_descriptor *const points[] = {&point};

static const divvy_descriptor descriptor = {
    DIVVY_HEAD(divvy_descriptor, DIVVY_KIND_DESCRIPTOR),
    DIVVY_ABI_MINOR,
    DIVVY_LEAST_MINOR,
    DIVVY_LITERAL("plugin-name"),
    DIVVY_LITERAL("0.1.0"),
    DIVVY_LITERAL("prefers clusters with much room"),
    DIVVY_LITERAL(""),
    {points, 1},
    {NULL, 0},
    construct,
    destroy,
    answer,
    NULL,
};
static const divvy_descriptor *const plugins[] = {&descriptor};

const divvy_library divvy_plugin_v1 = {
    DIVVY_HEAD(divvy_library, DIVVY_KIND_LIBRARY),
    {plugins, 1},
};

DIVVY_RECORD(record, 0, "c", "plugin-name", "0.1.0");
