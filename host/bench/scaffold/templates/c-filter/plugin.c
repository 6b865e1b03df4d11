/*
 * plugin-name: a filter that rejects clusters without a region. rule.c is where it decides.
 */
#include "export.h"
#include "rule.h"

/* Writes a code for every cluster that is still feasible and has no region. */
static uint32_t filter(const divvy_services *services, divvy_filter_call *call)
{
    static const char reason[] = "cluster(s) had no region";
    const divvy_cycle_view *cycle = call->cycle;
    uint64_t bytes;
    const uint32_t *regions = divvy_column(cycle->snapshot, DIVVY_COLUMN_REGION, &bytes);
    const uint64_t rows = bytes / sizeof *regions;
    for (uint64_t row = 0; row < call->codes.length; row++) {
        if (call->codes.data[row] != 0 || (row < rows && keeps(regions[row]))) {
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

EXPORT_PLUGIN("plugin-name", "0.1.0", "rejects clusters without a region", DIVVY_KIND_FILTER, divvy_filter_call, filter);
