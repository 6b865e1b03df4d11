/*
 * plugin-name: a selector that keeps the two best clusters. rule.c is where it decides.
 */
#include "export.h"
#include "rule.h"

/* Picks the candidates, as indices into the columns of the call. */
static uint32_t select(const divvy_services *services, divvy_select_call *call)
{
    (void)services;
    call->count = choose(call->scores.data, call->capacity.data, call->rows.length, call->candidates.data);
    return 0;
}

EXPORT_PLUGIN("plugin-name", "0.1.0", "keeps the two clusters with the best scores", DIVVY_KIND_SELECT, divvy_select_call,
              select);
