/*
 * ready-only: a filter that rejects clusters whose condition Ready is not True.
 */
#include "divvy_plugin.h"

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
    const uint32_t *flags = (const uint32_t *)divvy_column(cycle->snapshot, DIVVY_COLUMN_FLAGS, &bytes);
    const uint64_t rows = bytes / sizeof *flags;
    for (uint64_t row = 0; row < call->codes.length; row++) {
        if (call->codes.data[row] != 0 || (row < rows && (flags[row] & DIVVY_CLUSTER_READY) != 0)) {
            continue;
        }
        uint32_t code = call->code;
        if ((cycle->flags & DIVVY_CYCLE_EXPLAIN) != 0 && services->text != NULL) {
            const divvy_text text = DIVVY_LITERAL("cluster(s) were not ready");
            code = services->text(call->sink, DIVVY_TEXT_REASON, (uint32_t)row, text);
        }
        call->codes.data[row] = code != 0 ? code : call->code;
    }
    return 0;
}

static uint32_t answer(const void *services, divvy_call_head *call)
{
    if (call->kind != DIVVY_KIND_FILTER) {
        return DIVVY_FAILURE_NOT_SERVED;
    }
    return filter((const divvy_services *)services, (divvy_filter_call *)call);
}

static const divvy_point_descriptor point = DIVVY_POINT(DIVVY_KIND_FILTER, 0, 0, 0, 0);
static const divvy_point_descriptor *const points[] = {&point};

extern const divvy_descriptor ready_only;
const divvy_descriptor ready_only =
    DIVVY_DESCRIPTOR("ready-only", "1.0.0", "rejects clusters that are not ready",
                     points, 1, NULL, 0, construct, destroy, answer, NULL);

DIVVY_RECORD(record, 0, "c", "ready-only", "1.0.0");
