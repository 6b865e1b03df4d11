/*
 * fill-in-order: a strategy that fills the candidates one after another, in the order in which Select chose them.
 */
#include <stdlib.h>
#include <string.h>

#include "divvy_plugin.h"

/* An instance: the services that the host offers to it. */
typedef struct instance {
    const divvy_services *services;
} instance;

/* Passes a failure to the host and returns its code. */
static uint32_t fail(const divvy_services *services, void *sink, uint32_t code, const char *message, int64_t requested,
                     int64_t available)
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

/* Constructs an instance. The strategy has no settings, so any configuration but an empty object is refused. */
static uint32_t construct(divvy_construct_call *call)
{
    const divvy_text given = call->configuration;
    if (given.length != 2 || memcmp(given.data, "{}", 2) != 0) {
        return fail(call->services, call->sink, DIVVY_FAILURE_CONFIGURATION, "the plugin has no settings", -1, -1);
    }
    instance *self = (instance *)malloc(sizeof *self);
    if (self == NULL) {
        return fail(call->services, call->sink, DIVVY_FAILURE_CONSTRUCTION, "out of memory", -1, -1);
    }
    self->services = call->services;
    call->instance = self;
    return 0;
}

static void destroy(void *self)
{
    free(self);
}

/* Explains the count of a candidate if an explanation was requested. The host makes a line of text from it. */
static void explain(const instance *self, const divvy_assign_call *call, uint64_t candidate, int64_t replicas)
{
    if ((call->cycle->flags & DIVVY_CYCLE_EXPLAIN) == 0 || self->services->explain == NULL) {
        return;
    }
    const int64_t capacity = call->capacity.data[candidate];
    const divvy_figure_row figures[] = {
        {DIVVY_LITERAL("capacity"), capacity},
        {DIVVY_LITERAL("share"), replicas},
    };
    const uint32_t cause = replicas == 0 ? DIVVY_REASON_NOT_NEEDED : DIVVY_REASON_PACKED;
    divvy_reason reason = divvy_new_reason(call->rows.data[candidate], cause);
    reason.bound = replicas == capacity ? DIVVY_BOUND_CAPACITY : DIVVY_BOUND_NONE;
    reason.figures.data = figures;
    reason.figures.length = sizeof figures / sizeof figures[0];
    self->services->explain(call->sink, &reason);
}

/* Counts replicas for the people who run the host. */
static void count(const instance *self, int64_t replicas)
{
    const divvy_text divisions = DIVVY_LITERAL("divisions");
    const divvy_text sizes = DIVVY_LITERAL("replicas");
    if (self->services->count != NULL) {
        self->services->count(self->services->context, divisions, 1);
    }
    if (self->services->observe != NULL) {
        self->services->observe(self->services->context, sizes, (double)replicas);
    }
}

/* Divides the replicas. Every count is 0 on entry. */
static uint32_t assign(const instance *self, divvy_assign_call *call)
{
    int64_t left = call->replicas;
    count(self, left);
    for (uint64_t candidate = 0; candidate < call->rows.length; candidate++) {
        const int64_t capacity = call->capacity.data[candidate];
        const int64_t replicas = left < capacity ? left : capacity;
        call->result.data[candidate] = replicas;
        explain(self, call, candidate, replicas);
        left -= replicas;
    }
    if (left > 0) {
        return fail(self->services, call->sink, DIVVY_FAILURE_UNSCHEDULABLE, "the candidates have too little room",
                    call->replicas, call->replicas - left);
    }
    return 0;
}

/* Dispatches by the kind of the call. */
static uint32_t answer(const void *self, divvy_call_head *call)
{
    switch (call->kind) {
    case DIVVY_KIND_ASSIGN:
        return assign((const instance *)self, (divvy_assign_call *)call);
    default:
        return DIVVY_FAILURE_NOT_SERVED;
    }
}

static const divvy_point_descriptor point = DIVVY_POINT(DIVVY_KIND_ASSIGN, 0, 0, 0, 0);
static const divvy_point_descriptor *const points[] = {&point};

/* The host checks in every cycle that no count exceeds the capacity. */
static const divvy_strategy_descriptor strategy = DIVVY_STRATEGY("FillInOrder", 0, DIVVY_FEATURE_RESPECTS_CAPACITY);
static const divvy_strategy_descriptor *const strategies[] = {&strategy};

extern const divvy_descriptor fill_in_order;
const divvy_descriptor fill_in_order =
    DIVVY_DESCRIPTOR("fill-in-order", "1.0.0", "fills the candidates in the order of Select",
                     points, 1, strategies, 1, construct, destroy, answer, NULL);

DIVVY_RECORD(record, 0, "c", "fill-in-order", "1.0.0");
