/*
 * plugin-name: a score that prefers clusters with a lot of room. rule.c is where it decides.
 */
#include "export.h"
#include "rule.h"

/* Scores the feasible clusters. Every score is 0 on entry. */
static uint32_t score(const divvy_services *services, divvy_score_call *call)
{
    (void)services;
    rate(call->capacity.data, call->result.data, call->rows.length);
    return 0;
}

EXPORT_PLUGIN("plugin-name", "0.1.0", "prefers clusters with much room", DIVVY_KIND_SCORE, divvy_score_call, score);
