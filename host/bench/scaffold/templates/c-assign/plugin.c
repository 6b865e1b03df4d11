/*
 * plugin-name: a strategy that fills the roomiest cluster first. rule.c is where it decides.
 */
#include "export.h"
#include "rule.h"

/* Divides the replicas. Every count is 0 on entry. */
static uint32_t assign(const divvy_services *services, divvy_assign_call *call)
{
    const int64_t left = divide(call->replicas, call->capacity.data, call->result.data, call->rows.length);
    if (left > 0) {
        return fail(services, call->sink, DIVVY_FAILURE_UNSCHEDULABLE, "the candidates have too little room",
                    call->replicas, call->replicas - left);
    }
    return 0;
}

EXPORT_STRATEGY("plugin-name", "0.1.0", "fills the roomiest cluster first, then the next", "PluginName",
                DIVVY_FEATURE_RESPECTS_CAPACITY, assign);
