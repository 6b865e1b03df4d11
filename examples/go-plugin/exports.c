/*
 * The exports of the library, as static data, and what the host calls. Go fills no table: the host reads it from the file
 * before the Go runtime starts.
 */
#include "_cgo_export.h"
#include "divvy_plugin.h"

static uint32_t construct(divvy_construct_call *call)
{
    return goConstruct(call);
}

/* Instances are numbers, because C must not keep addresses of Go's memory. */
static void destroy(void *instance)
{
    goDestroy((uintptr_t)instance);
}

/* Other kinds of calls never enter Go. */
static uint32_t answer(const void *instance, divvy_call_head *call)
{
    if (call->kind != DIVVY_KIND_FILTER) {
        return DIVVY_FAILURE_NOT_SERVED;
    }
    return goFilter((uintptr_t)instance, (divvy_filter_call *)call);
}

static uint32_t describe(const divvy_describe_call *call)
{
    static const divvy_text schema =
        DIVVY_LITERAL("{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\",\"description\":"
                      "\"Regular expression (RE2) that the names of clusters must match\"}},"
                      "\"required\":[\"pattern\"],\"additionalProperties\":false}");
    if (call->document == DIVVY_DOCUMENT_CONFIGURATION_SCHEMA) {
        call->take(call->sink, schema);
    }
    return 0;
}

static const divvy_point_descriptor point = DIVVY_POINT(DIVVY_KIND_FILTER, 0, DIVVY_FEATURE_EACH_ALONE, 0, 0);
static const divvy_point_descriptor *const points[] = {&point};
static const divvy_descriptor name_pattern =
    DIVVY_DESCRIPTOR("name-pattern", "1.0.0", "rejects clusters whose names do not match a pattern", points, 1, NULL, 0,
                     construct, destroy, answer, describe);
static const divvy_descriptor *const plugins[] = {&name_pattern};

const divvy_library divvy_plugin_v1 = DIVVY_LIBRARY(plugins, 1);

DIVVY_RECORD(record, 0, "go", "name-pattern", "1.0.0");
