/*
 * ready-only: a filter that rejects clusters whose condition Ready is not True.
 */
#include "divvy_plugin.h"

static const char reason[] = "cluster(s) were not ready";

/* The filter keeps nothing but the services of the host, so they are its instance. */
static uint32_t construct(divvy_construct_call *call)
{
    call->instance = (void *)call->services;
    return 0;
}

static void destroy(void *services)
{
    (void)services;
}

/* Writes a code for every cluster that is still feasible and not ready. */
static uint32_t filter(const divvy_services *services, divvy_filter_call *call)
{
    const divvy_cycle_view *cycle = call->cycle;
    uint64_t bytes;
    const uint32_t *flags = divvy_column(cycle->snapshot, DIVVY_COLUMN_FLAGS, &bytes);
    const uint64_t rows = bytes / sizeof *flags;
    for (uint64_t row = 0; row < call->codes.length; row++) {
        if (call->codes.data[row] != 0 || (row < rows && (flags[row] & DIVVY_CLUSTER_READY) != 0)) {
            continue;
        }
        uint32_t code = call->code;
        if ((cycle->flags & DIVVY_CYCLE_EXPLAIN) != 0 && services->text != NULL) {
            const divvy_text text = {(const uint8_t *)reason, sizeof reason - 1};
            code = services->text(call->sink, DIVVY_TEXT_REASON, (uint32_t)row, text);
        }
        call->codes.data[row] = code != 0 ? code : call->code;
    }
    return 0;
}

static uint32_t answer(const void *services, divvy_call_head *call)
{
    return call->kind == DIVVY_KIND_FILTER ? filter(services, (divvy_filter_call *)call) : DIVVY_FAILURE_NOT_SERVED;
}

static const divvy_point_descriptor point = {
    DIVVY_HEAD(divvy_point_descriptor, DIVVY_KIND_POINT), DIVVY_KIND_FILTER, 0, 0, 0,
};
static const divvy_point_descriptor *const points[] = {&point};

extern const divvy_descriptor ready_only;
const divvy_descriptor ready_only = {
    DIVVY_HEAD(divvy_descriptor, DIVVY_KIND_DESCRIPTOR),
    DIVVY_ABI_MINOR,
    DIVVY_LEAST_MINOR,
    DIVVY_LITERAL("ready-only"),
    DIVVY_LITERAL("1.0.0"),
    DIVVY_LITERAL("rejects clusters that are not ready"),
    DIVVY_LITERAL(""),
    {points, 1},
    {NULL, 0},
    construct,
    destroy,
    answer,
    NULL,
};

DIVVY_RECORD(record, 0, "c", "ready-only", "1.0.0");
