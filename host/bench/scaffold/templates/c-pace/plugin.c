/*
 * plugin-name: a pace that moves one replica per step. rule.c is where it decides.
 */
#define DIVVY_LEAST_MINOR 1u
#include "export.h"
#include "rule.h"

/* Writes the next result, one count per cluster, or the reason for waiting. */
static uint32_t pace(const divvy_services *services, divvy_pace_call *call)
{
    (void)services;
    const struct columns columns = {
        .current = call->current.data,
        .ready = call->ready.data,
        .target = call->target.data,
        .room = call->room.data,
        .clusters = call->current.length,
    };
    const struct allowances allowances = {
        .total = call->total,
        .max_surge = call->max_surge,
        .max_unavailable = call->max_unavailable,
        .max_clusters = call->max_clusters,
    };
    call->wait = step(&columns, &allowances, call->next.data);
    return 0;
}

EXPORT_PLUGIN("plugin-name", "0.1.0", "moves one replica per step, the new one first", DIVVY_KIND_PACE, divvy_pace_call,
              pace);
