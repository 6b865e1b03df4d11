/*
 * divvy_plugin.h: the binary interface between the Divvy scheduler and its plugins, ABI 1.1, in
 * C99 that is also valid C11, C++17 and C++20.
 *
 * A plugin is a shared library. It exports one symbol, `divvy_plugin_v1`, which lists its plugins, and carries one
 * record per plugin in the section `.divvy.plugin` of its file, from which the host reads name and versions before it
 * opens the library. Complete plugins in C are in examples/c-plugin.
 *
 * The host constructs a plugin from its configuration, calls it once per extension point and cycle, and destroys it.
 * All calls go to one function, which dispatches by `kind`. A kind that the plugin does not know or does not serve is
 * answered with `DIVVY_FAILURE_NOT_SERVED`.
 *
 * Contract:
 *
 * - Calls may come from any thread, and several at the same time.
 * - Everything that a call points to lives until the call returns, and no longer. The host does not write to it
 *   meanwhile.
 * - Texts and failures are passed to the host from the calling thread only, and before the call returns. Text is
 *   UTF-8.
 * - The plugin writes only to columns (`*_out`) and fields that are documented as written by it, and within their
 *   length.
 * - Nothing that one side allocates is freed by the other.
 * - No C++ exception and no longjmp leaves the plugin.
 * - The exports are static data: the host reads them from the file before it opens the library, and refuses a library
 *   whose exports it cannot read there. In C++ they must not need code that runs when the library is opened.
 * - Everything that a plugin passes to the host is limited in length and number: DIVVY_LIMIT_*. The host refuses exports
 *   that exceed a limit; of the texts of a call, it drops what exceeds one, and reports that in its log.
 *
 * Growth within one major version:
 *
 * - Every struct that begins with `size` and `kind` may get more fields at its end. Read a field that a later minor
 *   version added only if `size` covers it: DIVVY_HAS. The fields of ABI 1.0 are always there.
 * - Every struct that the plugin makes states its own size: DIVVY_HEAD.
 * - The arena may get more columns at the end of its directory. Rows of tables never change; a table grows by a
 *   parallel column.
 * - Numbers (kinds, codes, operators) may get more values. A value that the plugin does not know never matches.
 */
#ifndef DIVVY_PLUGIN_H
#define DIVVY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Major version of the ABI, which the symbols carry. */
#define DIVVY_ABI_MAJOR 1u
/* Minor version of the ABI that this header describes. */
#define DIVVY_ABI_MINOR 1u
/* Least minor version of a host with which the plugins of a library work. A library that has only what is newer, such as a
 * pace (ABI 1.1), defines it before it includes this header. */
#ifndef DIVVY_LEAST_MINOR
#define DIVVY_LEAST_MINOR 0u
#endif

/*
 * Addresses take eight bytes on every target, so that offsets do not depend on the target. DIVVY_POINTER declares the
 * field `name` with the type `type *`, DIVVY_FUNCTION the field `name` with a type of functions. DIVVY_ADDRESS is the
 * initialiser of such a field.
 */
#if UINTPTR_MAX == 0xffffffffu
#define DIVVY_POINTER(type, name)                                                                                      \
    type *name;                                                                                                        \
    uint32_t name##_fill;
#define DIVVY_FUNCTION(type, name)                                                                                     \
    type name;                                                                                                         \
    uint32_t name##_fill;
#define DIVVY_ADDRESS(value) value, 0
#else
#define DIVVY_POINTER(type, name) type *name;
#define DIVVY_FUNCTION(type, name) type name;
#define DIVVY_ADDRESS(value) value
#endif

/* The initialisers of the first two fields of a struct of type `type` that the plugin makes. The initialisers of
 * its other fields follow; fields without one are zero. */
#define DIVVY_HEAD(type, kind_) (uint32_t)sizeof(type), (kind_)

/* True if the struct behind `pointer` has the field `field`. */
#define DIVVY_HAS(pointer, type, field) \
    ((pointer)->size >= offsetof(type, field) + sizeof(((const type *)0)->field))

/* The first eight bytes of every struct that can grow. */
typedef struct divvy_head {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* A value of `DIVVY_KIND_*`. */
    uint32_t kind;
} divvy_head;

/* ----------------------------------------------------------------------------------------------------------------
 * Kinds of structs
 */

/* Kinds of structs. A struct of an unexpected kind is refused instead of being read as another.
 *
 * The numbers 6 to 11 are free: no version has given them a meaning. */
/* `divvy_prepare_call`. */
#define DIVVY_KIND_PREPARE 1u
/* `divvy_filter_call`. */
#define DIVVY_KIND_FILTER 2u
/* `divvy_score_call`. */
#define DIVVY_KIND_SCORE 3u
/* `divvy_select_call`. */
#define DIVVY_KIND_SELECT 4u
/* `divvy_assign_call`. */
#define DIVVY_KIND_ASSIGN 5u
/* `divvy_snapshot_value_call`. */
#define DIVVY_KIND_SNAPSHOT_VALUE 12u
/* `divvy_binding_value_call`. */
#define DIVVY_KIND_BINDING_VALUE 13u
/* `divvy_pace_call`. Since ABI 1.1. */
#define DIVVY_KIND_PACE 14u
/* `divvy_cycle_view`. */
#define DIVVY_KIND_CYCLE 64u
/* `divvy_policy_view`. */
#define DIVVY_KIND_POLICY 65u
/* `divvy_services`. */
#define DIVVY_KIND_SERVICES 66u
/* `divvy_failure`. */
#define DIVVY_KIND_FAILURE 67u
/* `divvy_construct_call`. */
#define DIVVY_KIND_CONSTRUCT 68u
/* `divvy_describe_call`. */
#define DIVVY_KIND_DESCRIBE 69u
/* `divvy_reason`. */
#define DIVVY_KIND_REASON 72u
/* `divvy_placements_view`. */
#define DIVVY_KIND_PLACEMENTS 73u
/* `divvy_library`. */
#define DIVVY_KIND_LIBRARY 96u
/* `divvy_descriptor`. */
#define DIVVY_KIND_DESCRIPTOR 97u
/* `divvy_point_descriptor`. */
#define DIVVY_KIND_POINT 98u
/* `divvy_strategy_descriptor`. */
#define DIVVY_KIND_STRATEGY 99u

/* ----------------------------------------------------------------------------------------------------------------
 * Texts and spans of a binding
 */

/* A text: UTF-8, not terminated. A null address is the empty text. */
typedef struct divvy_text {
    DIVVY_POINTER(const uint8_t, data)
    uint64_t length;
} divvy_text;

/* The text of a string literal, as an initialiser. */
#define DIVVY_LITERAL(literal) {DIVVY_ADDRESS((const uint8_t *)("" literal)), sizeof(literal) - 1}

/* A text: its span of the binding's string, and its hash. */
typedef struct divvy_pool_text {
    /* First byte. */
    uint32_t start;
    /* Length in bytes. */
    uint32_t length;
    /* `hash_text` of the bytes. */
    uint64_t hash;
} divvy_pool_text;

/* A run of rows in a table: `start..start + length`. */
typedef struct divvy_span {
    /* First row. */
    uint32_t start;
    /* Number of rows. */
    uint32_t length;
} divvy_span;

/* A column to read. A null address is the empty column. */
typedef struct divvy_u32_slice {
    DIVVY_POINTER(const uint32_t, data)
    uint64_t length;
} divvy_u32_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_u64_slice {
    DIVVY_POINTER(const uint64_t, data)
    uint64_t length;
} divvy_u64_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_i64_slice {
    DIVVY_POINTER(const int64_t, data)
    uint64_t length;
} divvy_i64_slice;

/* A column to write. A null address is the empty column. */
typedef struct divvy_u32_out {
    DIVVY_POINTER(uint32_t, data)
    uint64_t length;
} divvy_u32_out;

/* A column to write. A null address is the empty column. */
typedef struct divvy_i64_out {
    DIVVY_POINTER(int64_t, data)
    uint64_t length;
} divvy_i64_out;

/* A column to read. A null address is the empty column. */
typedef struct divvy_span_slice {
    DIVVY_POINTER(const divvy_span, data)
    uint64_t length;
} divvy_span_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_pool_text_slice {
    DIVVY_POINTER(const divvy_pool_text, data)
    uint64_t length;
} divvy_pool_text_slice;

/* ----------------------------------------------------------------------------------------------------------------
 * The snapshot of the clusters: a slice of 64-bit words
 */

/*
 * An arena is a head of DIVVY_ARENA_HEAD_WORDS words (magic, number of clusters, number of columns, generation), a
 * directory with one divvy_column_entry per column, then the columns, each aligned to eight bytes. A column that the
 * directory lacks is empty.
 *
 * Rows are clusters sorted by name. Texts are interned: a symbol is a number, equal texts have equal symbols, and
 * symbol 0 is the empty text. A property with a varying number of entries per cluster has one divvy_span per cluster
 * into columns of entries.
 */
/* The first word of an arena: the bytes "divvysnp". */
#define DIVVY_ARENA_MAGIC UINT64_C(0x706e737976766964)
/* Words before the directory. */
#define DIVVY_ARENA_HEAD_WORDS 4u
/* The value of a quantity that is not stated. */
#define DIVVY_ABSENT INT64_MIN
/* The row number that means "no such cluster". */
#define DIVVY_NO_ROW UINT32_MAX

/* One entry of the directory: the position and length of a column. */
typedef struct divvy_column_entry {
    /* First word of the column, counted from the arena's first word. */
    uint64_t first_word;
    /* Length in bytes. */
    uint64_t bytes;
} divvy_column_entry;

/* Bits of `DIVVY_COLUMN_FLAGS`. */
/* The cluster is being deleted. */
#define DIVVY_CLUSTER_DELETING 1u
/* The condition `Ready` is `True`. */
#define DIVVY_CLUSTER_READY 2u
/* The condition `CompleteAPIEnablements` is `True`. */
#define DIVVY_CLUSTER_COMPLETE_API_ENABLEMENTS 4u
/* The cluster's status has a resource summary. */
#define DIVVY_CLUSTER_RESOURCE_SUMMARY 8u

/* Values of `DIVVY_COLUMN_TAINT_EFFECTS`, and of a toleration's effect. */
/* Any effect; only for tolerations. */
#define DIVVY_EFFECT_ANY 0u
/* `NoSchedule`. */
#define DIVVY_EFFECT_NO_SCHEDULE 1u
/* `PreferNoSchedule`. */
#define DIVVY_EFFECT_PREFER_NO_SCHEDULE 2u
/* `NoExecute`. */
#define DIVVY_EFFECT_NO_EXECUTE 3u
/* An effect that Kubernetes does not define. */
#define DIVVY_EFFECT_UNKNOWN 4u

/* Values of `DIVVY_COLUMN_CONDITION_STATUSES`. */
/* `Unknown`, or anything else. */
#define DIVVY_CONDITION_UNKNOWN 0u
/* `True`. */
#define DIVVY_CONDITION_TRUE 1u
/* `False`. */
#define DIVVY_CONDITION_FALSE 2u

/* Groups of columns: bits of `divvy_point_descriptor.reads`, by which a plugin names the columns that its value for a
 * snapshot is made from.
 *
 * The host knows when a cluster last changed in each group. A heartbeat changes free resources and little else, so a
 * value that is made from labels survives it. */
/* Names, their order, and texts. They stay the same as long as rows and symbols keep their numbers, so they can always
 * be read: `DIVVY_COLUMN_NAME`, `DIVVY_COLUMN_NAME_HASH` and the columns of symbols. */
#define DIVVY_GROUP_NAMES UINT64_C(1)
/* `metadata.uid`. */
#define DIVVY_GROUP_UID (UINT64_C(1) << 1)
/* The bits of `DIVVY_CLUSTER_*`. */
#define DIVVY_GROUP_FLAGS (UINT64_C(1) << 2)
/* Region, provider and zones. */
#define DIVVY_GROUP_LOCATION (UINT64_C(1) << 3)
/* Labels. */
#define DIVVY_GROUP_LABELS (UINT64_C(1) << 4)
/* Annotations. */
#define DIVVY_GROUP_ANNOTATIONS (UINT64_C(1) << 5)
/* Taints. */
#define DIVVY_GROUP_TAINTS (UINT64_C(1) << 6)
/* API enablements. */
#define DIVVY_GROUP_APIS (UINT64_C(1) << 7)
/* Conditions. */
#define DIVVY_GROUP_CONDITIONS (UINT64_C(1) << 8)
/* Amounts of resources. Heartbeats change them. */
#define DIVVY_GROUP_RESOURCES (UINT64_C(1) << 9)
/* Resource models, and the numbers of nodes in their grades. Heartbeats change these. */
#define DIVVY_GROUP_MODELS (UINT64_C(1) << 10)
/* The clusters as JSON. Heartbeats change it. */
#define DIVVY_GROUP_RAW (UINT64_C(1) << 11)
/* All groups of this version. */
#define DIVVY_GROUP_ALL UINT64_C(0xfff)
/* Number of groups in this version. */
#define DIVVY_GROUP_COUNT 12u

/* The columns, by their index in the directory.
 *
 * A column "per cluster" has one row for each cluster. The documentation of a column of spans names the columns that
 * the spans point into. */
/* `u32` per cluster: symbol of the name. */
#define DIVVY_COLUMN_NAME 0
/* `u64` per cluster: hash of the name. */
#define DIVVY_COLUMN_NAME_HASH 1
/* `u32` per cluster: bits of `DIVVY_CLUSTER_*`. */
#define DIVVY_COLUMN_FLAGS 2
/* `u32` per cluster: symbol of `spec.region`. */
#define DIVVY_COLUMN_REGION 3
/* `u32` per cluster: symbol of `spec.provider`. */
#define DIVVY_COLUMN_PROVIDER 4
/* `u32` per cluster: symbol of the deprecated `spec.zone`. */
#define DIVVY_COLUMN_ZONE 5
/* `divvy_span` per cluster into `DIVVY_COLUMN_ZONES`. */
#define DIVVY_COLUMN_ZONE_SPANS 6
/* `u32`: symbols of `spec.zones`. */
#define DIVVY_COLUMN_ZONES 7
/* `divvy_span` per cluster into `DIVVY_COLUMN_LABEL_KEYS` and `DIVVY_COLUMN_LABEL_VALUES`. */
#define DIVVY_COLUMN_LABEL_SPANS 8
/* `u32`: symbols of label keys. */
#define DIVVY_COLUMN_LABEL_KEYS 9
/* `u32`: symbols of label values. */
#define DIVVY_COLUMN_LABEL_VALUES 10
/* `divvy_span` per cluster into `DIVVY_COLUMN_ANNOTATION_KEYS` and `DIVVY_COLUMN_ANNOTATION_VALUES`. */
#define DIVVY_COLUMN_ANNOTATION_SPANS 11
/* `u32`: symbols of annotation keys. */
#define DIVVY_COLUMN_ANNOTATION_KEYS 12
/* `u32`: symbols of annotation values. */
#define DIVVY_COLUMN_ANNOTATION_VALUES 13
/* `divvy_span` per cluster into the four taint columns. */
#define DIVVY_COLUMN_TAINT_SPANS 14
/* `u32`: symbols of taint keys. */
#define DIVVY_COLUMN_TAINT_KEYS 15
/* `u32`: symbols of taint values. */
#define DIVVY_COLUMN_TAINT_VALUES 16
/* `u32`: values of `DIVVY_EFFECT_*`. */
#define DIVVY_COLUMN_TAINT_EFFECTS 17
/* `i64`: `timeAdded` in seconds since the Unix epoch, `DIVVY_ABSENT` if not stated. */
#define DIVVY_COLUMN_TAINT_TIMES 18
/* `u32` per cluster: index of its set of API enablements. Clusters with the same APIs share a set. */
#define DIVVY_COLUMN_API_SET 19
/* `divvy_span` per set into `DIVVY_COLUMN_API_GROUP_VERSIONS` and `DIVVY_COLUMN_API_KINDS`. */
#define DIVVY_COLUMN_API_SET_SPANS 20
/* `u32`: symbols of group versions. */
#define DIVVY_COLUMN_API_GROUP_VERSIONS 21
/* `u32`: symbols of kinds. */
#define DIVVY_COLUMN_API_KINDS 22
/* `divvy_span` per cluster into the three condition columns. */
#define DIVVY_COLUMN_CONDITION_SPANS 23
/* `u32`: symbols of condition types. */
#define DIVVY_COLUMN_CONDITION_TYPES 24
/* `u32`: values of `DIVVY_CONDITION_*`. */
#define DIVVY_COLUMN_CONDITION_STATUSES 25
/* `u32`: symbols of condition reasons. */
#define DIVVY_COLUMN_CONDITION_REASONS 26
/* `u32` per resource: symbol of its name; `UINT32_MAX` for an unused index. A resource's rows in the four matrices
 * below begin at its index here times the number of clusters. */
#define DIVVY_COLUMN_RESOURCE_NAMES 27
/* `i64` per resource and cluster: allocatable. `cpu` in thousandths, everything else in its own unit, rounded up. */
#define DIVVY_COLUMN_RESOURCE_ALLOCATABLE 28
/* `i64` per resource and cluster: allocated, in the same units. */
#define DIVVY_COLUMN_RESOURCE_ALLOCATED 29
/* `i64` per resource and cluster: allocating, in the same units. */
#define DIVVY_COLUMN_RESOURCE_ALLOCATING 30
/* `i64` per resource and cluster: allocatable − allocated − allocating, exact and then rounded up, in the same units;
 * `DIVVY_ABSENT` where allocatable is not stated. */
#define DIVVY_COLUMN_RESOURCE_REMAINING 31
/* `u32` per cluster: index of its set of resource models; set 0 is empty. */
#define DIVVY_COLUMN_MODEL_SET 32
/* `divvy_span` per set of models into `DIVVY_COLUMN_MODEL_GRADES` and `DIVVY_COLUMN_MODEL_RANGE_SPANS`. */
#define DIVVY_COLUMN_MODEL_SET_SPANS 33
/* `i64` per model: its grade. */
#define DIVVY_COLUMN_MODEL_GRADES 34
/* `divvy_span` per model into the three range columns. */
#define DIVVY_COLUMN_MODEL_RANGE_SPANS 35
/* `u32`: symbols of resource names. */
#define DIVVY_COLUMN_MODEL_RANGE_RESOURCES 36
/* `i64`: lower end, in the units of the resource matrices. */
#define DIVVY_COLUMN_MODEL_RANGE_MINIMUMS 37
/* `i64`: upper end, in the same units. */
#define DIVVY_COLUMN_MODEL_RANGE_MAXIMUMS 38
/* `divvy_span` per cluster into `DIVVY_COLUMN_MODELING_GRADES` and `DIVVY_COLUMN_MODELING_COUNTS`. */
#define DIVVY_COLUMN_MODELING_SPANS 39
/* `i64`: a grade in `status.resourceSummary.allocatableModelings`. */
#define DIVVY_COLUMN_MODELING_GRADES 40
/* `i64`: nodes of that grade. */
#define DIVVY_COLUMN_MODELING_COUNTS 41
/* `u64` per symbol, plus a final one: start of its text in `DIVVY_COLUMN_SYMBOL_TEXT`. */
#define DIVVY_COLUMN_SYMBOL_OFFSETS 42
/* `u8`: the concatenated texts of the symbols, UTF-8. */
#define DIVVY_COLUMN_SYMBOL_TEXT 43
/* `u32`: an open-addressing hash table, keyed by the hash of the text, of symbols plus one (0: free). Its length is a
 * power of two. */
#define DIVVY_COLUMN_SYMBOL_TABLE 44
/* `u64` per symbol: hash of the text. */
#define DIVVY_COLUMN_SYMBOL_HASHES 45
/* `u32` per symbol: the row of the cluster with that name, `DIVVY_NO_ROW` if there is none. */
#define DIVVY_COLUMN_SYMBOL_ROWS 46
/* `divvy_span` per cluster into `DIVVY_COLUMN_RAW_TEXT`: its JSON; empty if no plugin needs it. */
#define DIVVY_COLUMN_RAW_SPANS 47
/* `u8`: the clusters as JSON. */
#define DIVVY_COLUMN_RAW_TEXT 48
/* `u32` per cluster: symbol of `metadata.uid`. */
#define DIVVY_COLUMN_UID 49
/* Number of columns in this version. */
#define DIVVY_COLUMN_COUNT 50

/*
 * A column of the snapshot, and its length in bytes; null and 0 if the snapshot does not have it. Its elements have the
 * type that the documentation of the column names.
 */
static inline const void *divvy_column(divvy_u64_slice snapshot, uint32_t column, uint64_t *bytes)
{
    const uint64_t *words = snapshot.data;
    *bytes = 0;
    if (words == NULL || snapshot.length < DIVVY_ARENA_HEAD_WORDS || words[0] != DIVVY_ARENA_MAGIC || column >= words[2]) {
        return NULL;
    }
    const uint64_t *entry = words + DIVVY_ARENA_HEAD_WORDS + 2 * (uint64_t)column;
    *bytes = entry[1];
    return words + entry[0];
}

/* The address of a text of the binding. `text.length` is its length in bytes. */
static inline const uint8_t *divvy_pool(divvy_text pool, divvy_pool_text text)
{
    return pool.data == NULL ? NULL : pool.data + text.start;
}

/* ----------------------------------------------------------------------------------------------------------------
 * Rows of a binding's tables
 */

/* A toleration. */
typedef struct divvy_toleration_row {
    /* Key; empty to match every key. */
    divvy_pool_text key;
    /* Value, for the operator `Equal`. */
    divvy_pool_text value;
    /* A value of `DIVVY_EFFECT_*`. */
    uint32_t effect;
    /* A value of `DIVVY_TOLERATION_*`. */
    uint32_t operator_;
    /* `tolerationSeconds`, `DIVVY_ABSENT` if not stated. */
    int64_t seconds;
} divvy_toleration_row;

/* Values of `divvy_toleration_row.operator_`. */
/* Key and value are equal. */
#define DIVVY_TOLERATION_EQUAL 0u
/* The key is there. */
#define DIVVY_TOLERATION_EXISTS 1u
/* Any other operator, which matches nothing. */
#define DIVVY_TOLERATION_UNKNOWN 2u

/* A spread constraint: a field to group clusters by, and the allowed numbers of groups. */
typedef struct divvy_spread_constraint_row {
    /* The label's key, for a constraint by label; otherwise empty. */
    divvy_pool_text label;
    /* A value of `DIVVY_SPREAD_*`. */
    uint32_t field;
    /* Zero. */
    uint32_t reserved;
    /* Minimum number of groups. */
    int64_t minimum_groups;
    /* Maximum number of groups; 0 or less means no limit. */
    int64_t maximum_groups;
} divvy_spread_constraint_row;

/* Values of `divvy_spread_constraint_row.field`. */
/* By cluster. */
#define DIVVY_SPREAD_CLUSTER 0u
/* By region. */
#define DIVVY_SPREAD_REGION 1u
/* By zone. */
#define DIVVY_SPREAD_ZONE 2u
/* By provider. */
#define DIVVY_SPREAD_PROVIDER 3u
/* By the value of a label. */
#define DIVVY_SPREAD_LABEL 4u
/* By a field that the host does not know. A reader treats a number that it does not know in the same way. */
#define DIVVY_SPREAD_UNKNOWN 5u

/* A cluster affinity. A cluster matches if it satisfies all conditions. */
typedef struct divvy_affinity_row {
    /* The affinity group's name; empty if it has none. */
    divvy_pool_text name;
    /* `clusterNames`, in `divvy_cycle_view.texts`; empty to match every name. */
    divvy_span cluster_names;
    /* `exclude`, in `divvy_cycle_view.texts`. */
    divvy_span exclude;
    /* Label and field expressions, in `divvy_cycle_view.expressions`. */
    divvy_span expressions;
} divvy_affinity_row;

/* One expression of a selector. */
typedef struct divvy_expression_row {
    /* The label's key; empty for a field. */
    divvy_pool_text key;
    /* The values, in `divvy_cycle_view.texts`. */
    divvy_span values;
    /* A value of `DIVVY_SOURCE_*`. */
    uint32_t source;
    /* A value of `DIVVY_OPERATOR_*`. */
    uint32_t operator_;
} divvy_expression_row;

/* Values of `divvy_expression_row.source`. */
/* A label. */
#define DIVVY_SOURCE_LABEL 0u
/* The provider. */
#define DIVVY_SOURCE_PROVIDER 1u
/* The region. */
#define DIVVY_SOURCE_REGION 2u
/* The zones. */
#define DIVVY_SOURCE_ZONE 3u
/* A field that no cluster has; treated like a label that is always absent. */
#define DIVVY_SOURCE_NOTHING 4u

/* Values of `divvy_expression_row.operator_`. */
/* The value is one of those given. */
#define DIVVY_OPERATOR_IN 0u
/* The value is absent, or none of those given. */
#define DIVVY_OPERATOR_NOT_IN 1u
/* The key is present. */
#define DIVVY_OPERATOR_EXISTS 2u
/* The key is absent. */
#define DIVVY_OPERATOR_DOES_NOT_EXIST 3u
/* The value is an integer greater than the one given. */
#define DIVVY_OPERATOR_GREATER_THAN 4u
/* The value is an integer less than the one given. */
#define DIVVY_OPERATOR_LESS_THAN 5u
/* Any other operator, which matches nothing. */
#define DIVVY_OPERATOR_UNKNOWN 6u

/* A quantity of a resource that one replica requests. */
typedef struct divvy_request_row {
    /* The resource's name. */
    divvy_pool_text resource;
    /* Quantity, rounded up: `cpu` in thousandths, everything else in its own unit. */
    int64_t quantity;
} divvy_request_row;

/* One pod template of a workload that has several. */
typedef struct divvy_component_row {
    /* Its name. */
    divvy_pool_text name;
    /* Its replicas. */
    int64_t replicas;
    /* Requests of one of its replicas, in `divvy_cycle_view.requests`. */
    divvy_span requests;
} divvy_component_row;

/* A cluster of the last result. */
typedef struct divvy_target_row {
    /* The cluster's name. */
    divvy_pool_text cluster;
    /* Its replicas. */
    int64_t replicas;
} divvy_target_row;

/* A binding that shares a workload affinity group with the binding of the cycle. */
typedef struct divvy_peer_row {
    /* Name of the binding, in `divvy_placements_view.pool`. */
    divvy_pool_text name;
    /* Groups that both bindings are in: bits of `DIVVY_PEER_*`. */
    uint64_t groups;
    /* Its clusters, in `divvy_placements_view.targets`; empty while it has none. */
    divvy_span targets;
} divvy_peer_row;

/* Bits of `divvy_peer_row.groups`. */
/* The affinity group. */
#define DIVVY_PEER_AFFINITY UINT64_C(1)
/* The anti-affinity group. */
#define DIVVY_PEER_ANTI_AFFINITY (UINT64_C(1) << 1)

/* A pair of texts: a label or an annotation. */
typedef struct divvy_pair_row {
    /* Key. */
    divvy_pool_text key;
    /* Value. */
    divvy_pool_text value;
} divvy_pair_row;

/* One entry of the policy lists that a strategy reads: numbers for a group of clusters. */
typedef struct divvy_rule_row {
    /* The list that the entry is in, such as `staticWeightList`. */
    divvy_pool_text list;
    /* The entry's path in the policy, for messages. */
    divvy_pool_text origin;
    /* The clusters that the entry is for: an index into `divvy_cycle_view.affinities`. */
    uint32_t target;
    /* Zero. */
    uint32_t reserved;
    /* The entry's values, in `divvy_policy_view.rule_values`. */
    divvy_span values;
} divvy_rule_row;

/* A named number of a rule. */
typedef struct divvy_rule_value_row {
    /* The field's name, such as `weight`. */
    divvy_pool_text field;
    /* Its value. */
    int64_t value;
} divvy_rule_value_row;

/* A column of a table that the profile provides. */
typedef struct divvy_table_column_row {
    /* The table's name, as the plugin declares it, in `divvy_cycle_view.table_pool`. */
    divvy_pool_text table;
    /* The column's name. */
    divvy_pool_text name;
    /* The type of its cells: a value of `DIVVY_CELL_*`. */
    uint32_t cell_type;
    /* Digits after the decimal point of a decimal; 0 for other types. */
    uint32_t scale;
} divvy_table_column_row;

/* Values of `divvy_table_column_row.cell_type`, each with the meaning of a cell. */
/* An integer. */
#define DIVVY_CELL_INTEGER 1u
/* A decimal, multiplied by ten to the power of its scale. */
#define DIVVY_CELL_DECIMAL 2u
/* A text, as an index into `divvy_cycle_view.table_texts`. Equal texts of a column have equal indices. */
#define DIVVY_CELL_TEXT 3u
/* A boolean: 0 or 1. */
#define DIVVY_CELL_BOOLEAN 4u
/* A point in time, in milliseconds since 1970-01-01T00:00:00Z. */
#define DIVVY_CELL_TIME 5u
/* Hours of a week, as an index into `divvy_cycle_view.table_weekly`. */
#define DIVVY_CELL_WEEKLY 6u

/* Hours that recur on days of the week, by the local time of a zone. An occurrence begins on one of the days. It lasts
 * from the first instant at which the zone's clocks have reached `start` to the last at which they have not reached
 * `end`: clocks that are put forward past one of both make it begin or end with the change, and clocks that are put
 * back are within it both times. */
typedef struct divvy_weekly_row {
    /* Days on which it begins: bit 0 is Monday, bit 6 Sunday. */
    uint32_t days;
    /* Minute of the day at which it begins, from 0 to 1439. */
    uint32_t start;
    /* Minute at which it ends, counted from the beginning of the day on which it begins; more than `start`, and at most
     * 1440 more. */
    uint32_t end;
    /* Zero. */
    uint32_t reserved;
    /* The zone's changes, in `divvy_cycle_view.table_offsets`; the first counts from the beginning of time. */
    divvy_span offsets;
} divvy_weekly_row;

/* A change of a zone's offset from UTC. */
typedef struct divvy_offset_row {
    /* First millisecond, since 1970, of the offset. */
    int64_t from;
    /* Local time minus UTC, in seconds. */
    int64_t seconds;
} divvy_offset_row;

/* The texts that name a binding and its resource. */
typedef struct divvy_binding_names {
    /* Name of the binding. */
    divvy_pool_text name;
    /* Namespace of the binding; empty if it has none. */
    divvy_pool_text namespace_;
    /* UID of the binding, or a substitute if it has none. */
    divvy_pool_text uid;
    /* `apiVersion` of the resource. */
    divvy_pool_text resource_api_version;
    /* `kind` of the resource. */
    divvy_pool_text resource_kind;
    /* Namespace of the resource; empty if it has none. */
    divvy_pool_text resource_namespace;
    /* Name of the resource. */
    divvy_pool_text resource_name;
    /* UID of the resource; empty if it has none. */
    divvy_pool_text resource_uid;
    /* The strategy. */
    divvy_pool_text strategy;
} divvy_binding_names;

/* A column to read. A null address is the empty column. */
typedef struct divvy_affinity_row_slice {
    DIVVY_POINTER(const divvy_affinity_row, data)
    uint64_t length;
} divvy_affinity_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_expression_row_slice {
    DIVVY_POINTER(const divvy_expression_row, data)
    uint64_t length;
} divvy_expression_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_toleration_row_slice {
    DIVVY_POINTER(const divvy_toleration_row, data)
    uint64_t length;
} divvy_toleration_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_spread_constraint_row_slice {
    DIVVY_POINTER(const divvy_spread_constraint_row, data)
    uint64_t length;
} divvy_spread_constraint_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_request_row_slice {
    DIVVY_POINTER(const divvy_request_row, data)
    uint64_t length;
} divvy_request_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_component_row_slice {
    DIVVY_POINTER(const divvy_component_row, data)
    uint64_t length;
} divvy_component_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_target_row_slice {
    DIVVY_POINTER(const divvy_target_row, data)
    uint64_t length;
} divvy_target_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_peer_row_slice {
    DIVVY_POINTER(const divvy_peer_row, data)
    uint64_t length;
} divvy_peer_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_pair_row_slice {
    DIVVY_POINTER(const divvy_pair_row, data)
    uint64_t length;
} divvy_pair_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_rule_row_slice {
    DIVVY_POINTER(const divvy_rule_row, data)
    uint64_t length;
} divvy_rule_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_rule_value_row_slice {
    DIVVY_POINTER(const divvy_rule_value_row, data)
    uint64_t length;
} divvy_rule_value_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_table_column_row_slice {
    DIVVY_POINTER(const divvy_table_column_row, data)
    uint64_t length;
} divvy_table_column_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_weekly_row_slice {
    DIVVY_POINTER(const divvy_weekly_row, data)
    uint64_t length;
} divvy_weekly_row_slice;

/* A column to read. A null address is the empty column. */
typedef struct divvy_offset_row_slice {
    DIVVY_POINTER(const divvy_offset_row, data)
    uint64_t length;
} divvy_offset_row_slice;

/* ----------------------------------------------------------------------------------------------------------------
 * Reasons as data: why a cluster has its share or its score, or was left out
 */

/* The rule that led to a share, to a score, or to leaving a cluster out. */
/* Any other rule; the text states it. */
#define DIVVY_REASON_OTHER 0u
/* Every candidate gets the full count. Figures: `replicas`. */
#define DIVVY_REASON_FULL_COUNT 1u
/* A share in proportion to the first figure. Figures: `sum`, `replicas`, `share`. */
#define DIVVY_REASON_PROPORTION 2u
/* A share in proportion to the first figure, rounded by highest averages. Figures: `sum`, `replicas`, `share`. */
#define DIVVY_REASON_HIGHEST_AVERAGES 3u
/* As even as the bounds allow. Figures: `capacity`, `each`. */
#define DIVVY_REASON_EVEN 4u
/* Clusters are filled one after another. */
#define DIVVY_REASON_PACKED 5u
/* A share of the count that a rule gives to a group of clusters. Figures: `count`, `members`, `last`, `change`. */
#define DIVVY_REASON_COUNT 6u
/* As many as fit. */
#define DIVVY_REASON_FILLED 7u
/* The last result stays. */
#define DIVVY_REASON_UNCHANGED 8u
/* Other clusters are enough. */
#define DIVVY_REASON_NOT_NEEDED 9u
/* The cluster's replicas go elsewhere. */
#define DIVVY_REASON_DRAINED 10u
/* No rule gives the cluster a share. */
#define DIVVY_REASON_NO_SHARE 11u
/* The last result lists the cluster. */
#define DIVVY_REASON_LISTED 12u
/* Left out: others come first. Figures: `maximum`. */
#define DIVVY_REASON_BEYOND_MAXIMUM 13u
/* Left out: its group of clusters is not chosen. The text names the group. */
#define DIVVY_REASON_GROUP_NOT_CHOSEN 14u

/* The limit that keeps a share from being larger, or a cluster from being chosen. */
/* Nothing in particular. */
#define DIVVY_BOUND_NONE 0u
/* The cluster's capacity. */
#define DIVVY_BOUND_CAPACITY 1u
/* A limit of the plugin or of its configuration. */
#define DIVVY_BOUND_CAP 2u
/* The share of the cluster's tier. */
#define DIVVY_BOUND_TIER 3u
/* A rule of the policy. */
#define DIVVY_BOUND_RULE 4u

/* One of the replicas that rounding leaves over. */
/* There is none, or it does not matter here. */
#define DIVVY_REMAINDER_NONE 0u
/* The cluster got one of them. */
#define DIVVY_REMAINDER_SERVED 1u
/* The cluster got none of them. */
#define DIVVY_REMAINDER_PASSED_OVER 2u

/* Criteria that decide between clusters. */
/* Nothing. */
#define DIVVY_DECIDER_NONE 0u
/* The larger weight. */
#define DIVVY_DECIDER_WEIGHT 1u
/* More replicas in the last result. */
#define DIVVY_DECIDER_LAST 2u
/* The better score. */
#define DIVVY_DECIDER_SCORE 3u
/* Fewest replicas in the last result. */
#define DIVVY_DECIDER_FEWEST_LAST 4u
/* Most replicas in the last result. */
#define DIVVY_DECIDER_MOST_LAST 5u
/* The order in the policy. */
#define DIVVY_DECIDER_POLICY_ORDER 6u
/* The name. */
#define DIVVY_DECIDER_NAME 7u
/* The random order for ties. */
#define DIVVY_DECIDER_TIE 8u

/* A figure of a reason. */
typedef struct divvy_figure_row {
    /* Its name: ASCII letters and digits in `camelCase`. The host drops a figure with another name. */
    divvy_text name;
    /* Its value. */
    int64_t value;
} divvy_figure_row;

/* A column to read. A null address is the empty column. */
typedef struct divvy_figure_row_slice {
    DIVVY_POINTER(const divvy_figure_row, data)
    uint64_t length;
} divvy_figure_row_slice;

/* The reason for a plugin's decision about a cluster. Passed to `divvy_services.explain`; everything in it is borrowed
 * for that call. A reader treats a cause that it does not know as `DIVVY_REASON_OTHER`, and any other number that it
 * does not know as 0. */
typedef struct divvy_reason {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_REASON`. */
    uint32_t kind;
    /* Row of the cluster. */
    uint32_t row;
    /* A value of `DIVVY_REASON_*`. */
    uint32_t cause;
    /* A value of `DIVVY_BOUND_*`. */
    uint32_t bound;
    /* A value of `DIVVY_REMAINDER_*`. */
    uint32_t remainder;
    /* A value of `DIVVY_DECIDER_*`: what decided about the remainder. */
    uint32_t decided_by;
    /* Zero. */
    uint32_t reserved;
    /* Figures, in the order in which a text mentions them. */
    divvy_figure_row_slice figures;
    /* The plugin's own words, one line; empty if the other fields suffice. */
    divvy_text text;
} divvy_reason;

/* A reason for what the plugin decided about the cluster in a row, without figures and text. */
static inline divvy_reason divvy_new_reason(uint32_t row, uint32_t cause)
{
    divvy_reason reason;
    memset(&reason, 0, sizeof reason);
    reason.size = (uint32_t)sizeof reason;
    reason.kind = DIVVY_KIND_REASON;
    reason.row = row;
    reason.cause = cause;
    return reason;
}

/* ----------------------------------------------------------------------------------------------------------------
 * Services of the host, construction and failures
 */

/* Codes of failures.
 *
 * The upper sixteen bits of a code are its class, by which a host treats a code that it does not know. A class that it
 * does not know counts as `DIVVY_FAILURE_PLUGIN`. */
/* Class: a scheduling outcome, for which no one is at fault. */
#define DIVVY_FAILURE_BINDING 1u
/* Class: the policy, the binding or the configuration is wrong, and its author has to change it. */
#define DIVVY_FAILURE_INPUT 2u
/* Class: the plugin is at fault. */
#define DIVVY_FAILURE_PLUGIN 3u
/* The binding cannot be scheduled on the clusters as they are. */
#define DIVVY_FAILURE_UNSCHEDULABLE 0x10001u
/* The policy's preferences are invalid. The host reports an error in the policy. */
#define DIVVY_FAILURE_PREFERENCES 0x20001u
/* The configuration is invalid at `divvy_failure.path`. The host rejects the profile. */
#define DIVVY_FAILURE_CONFIGURATION 0x20002u
/* A row of a table is invalid at `divvy_failure.path`: the name of the table as the plugin declares it, the name of a
 * cluster that the row is for, the number of the row among those for the cluster (from 0), and the name of the column
 * (empty for the whole row), separated by line feeds. If a call for the value of a snapshot fails so when the host
 * loads a profile, which it tries with every row of the tables, it rejects the profile. */
#define DIVVY_FAILURE_TABLE 0x20003u
/* Any other error of the plugin. */
#define DIVVY_FAILURE_INTERNAL 0x30001u
/* The plugin panicked. After several consecutive panics the host stops calling it. */
#define DIVVY_FAILURE_PANIC 0x30002u
/* The plugin's constructor returned an error. The host rejects the profile. */
#define DIVVY_FAILURE_CONSTRUCTION 0x30003u
/* The plugin does not know this kind of call, or does not serve it. */
#define DIVVY_FAILURE_NOT_SERVED 0x30004u

/* Kinds of text that a plugin passes to `divvy_services.text`. A host drops a kind that it does not know. */
/* The reason for rejecting a cluster; the answer is the code to write for the cluster. */
#define DIVVY_TEXT_REASON 1u
/* An explanation of what the plugin decided for a cluster. */
#define DIVVY_TEXT_EXPLANATION 2u
/* A remark on the whole decision. */
#define DIVVY_TEXT_NOTE 3u

/* Levels of log records, by which `divvy_services.log_level` answers. */
/* Nothing is recorded. */
#define DIVVY_LEVEL_OFF 0u
/* Errors. */
#define DIVVY_LEVEL_ERROR 1u
/* Warnings. */
#define DIVVY_LEVEL_WARN 2u
/* Information. */
#define DIVVY_LEVEL_INFO 3u
/* Details for debugging. */
#define DIVVY_LEVEL_DEBUG 4u
/* Everything. */
#define DIVVY_LEVEL_TRACE 5u

/* Why a call failed. Passed to `divvy_services.fail`; the texts are borrowed for that call. */
typedef struct divvy_failure {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_FAILURE`. */
    uint32_t kind;
    /* A code of `DIVVY_FAILURE_*`. */
    uint32_t code;
    /* Zero. */
    uint32_t reserved;
    /* One line, lower case, without a final period. */
    divvy_text message;
    /* Location of the fault: a path in the configuration or preferences, or a line of the plugin's source after a
     * panic; empty if there is none. */
    divvy_text path;
    /* A suggested remedy; empty if none is known. */
    divvy_text hint;
    /* For `DIVVY_FAILURE_UNSCHEDULABLE`: replicas requested; negative if too little room is not the cause. */
    int64_t requested;
    /* For `DIVVY_FAILURE_UNSCHEDULABLE`: replicas that could be placed; negative if too little room is not the
     * cause. */
    int64_t available;
} divvy_failure;

/* A failure with this code, without texts, and without figures of replicas. */
static inline divvy_failure divvy_new_failure(uint32_t code)
{
    divvy_failure failure;
    memset(&failure, 0, sizeof failure);
    failure.size = (uint32_t)sizeof failure;
    failure.kind = DIVVY_KIND_FAILURE;
    failure.code = code;
    failure.requested = -1;
    failure.available = -1;
    return failure;
}

/* Returns the most verbose level of `DIVVY_LEVEL_*` that is recorded. Its argument: `divvy_services.context`. */
typedef uint32_t (*divvy_log_level_function)(const void *context);

/* Takes one log record: `divvy_services.context`, level, module of the plugin, message. */
typedef void (*divvy_log_function)(const void *context, uint32_t level, divvy_text target, divvy_text message);

/* Adds to one of the plugin's counters: `divvy_services.context`, name of the counter, amount. A name consists of ASCII
 * letters, digits and underscores and does not begin with a digit; the host ignores any other. The number of names of a
 * plugin is limited (`DIVVY_LIMIT_*`). */
typedef void (*divvy_count_function)(const void *context, divvy_text name, uint64_t amount);

/* Adds a value to one of the plugin's histograms: `divvy_services.context`, name of the histogram, value. Names are as
 * for `divvy_count_function`. A value that is infinite or not a number is ignored. */
typedef void (*divvy_observe_function)(const void *context, divvy_text name, double value);

/* Takes a text during a call: the call's sink, a value of `DIVVY_TEXT_*`, the row of the cluster that the text is about
 * (`DIVVY_NO_ROW` for none), the text. Returns the code of a reason, otherwise 0. */
typedef uint32_t (*divvy_text_function)(const void *sink, uint32_t kind, uint32_t row, divvy_text text);

/* Takes the reason for a call's failure: the call's sink and a `divvy_failure`. The call then returns its code. */
typedef void (*divvy_fail_function)(const void *sink, const divvy_failure *failure);

/* Takes a reason during a call that is explained: the call's sink and a `divvy_reason`. */
typedef void (*divvy_explain_function)(const void *sink, const divvy_reason *reason);

/* The services of the host for one instance of a plugin. The table lives as long as the process. A function may be null
 * in a table from another host; the plugin then does without it. */
typedef struct divvy_services {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_SERVICES`. */
    uint32_t kind;
    /* The host's own value for the functions that take a context. */
    DIVVY_POINTER(void, context)
    /* The level of the log. May be called from any thread at any time. */
    DIVVY_FUNCTION(divvy_log_level_function, log_level)
    /* The log. May be called from any thread at any time. */
    DIVVY_FUNCTION(divvy_log_function, log)
    /* The plugin's counters. May be called from any thread at any time. Experimental: a minor version may leave it
     * null. */
    DIVVY_FUNCTION(divvy_count_function, count)
    /* Texts of a decision. Only during a call, from the calling thread. */
    DIVVY_FUNCTION(divvy_text_function, text)
    /* Failures. Only during a call or a construction, from the calling thread. */
    DIVVY_FUNCTION(divvy_fail_function, fail)
    /* The plugin's histograms. May be called from any thread at any time. Experimental: a minor version may leave it
     * null. */
    DIVVY_FUNCTION(divvy_observe_function, observe)
    /* Reasons of a decision, as data. Only during a call, from the calling thread. */
    DIVVY_FUNCTION(divvy_explain_function, explain)
} divvy_services;

/* Constructs a plugin from its configuration. */
typedef struct divvy_construct_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_CONSTRUCT`. */
    uint32_t kind;
    /* The host's own value for `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* The services for this instance. */
    DIVVY_POINTER(const divvy_services, services)
    /* The configuration, a JSON object. */
    divvy_text configuration;
    /* The host's minor ABI version. */
    uint32_t abi_minor;
    /* Zero. */
    uint32_t reserved;
    /* The instance, written by the plugin. The host passes it in every call, and finally to
     * `divvy_descriptor.destroy`. */
    DIVVY_POINTER(void, instance)
    /* Bits of `DIVVY_FEATURE_*` that the plugin needs with this configuration, in addition to those that it declares;
     * written by the plugin. A host that does not know one of them rejects the profile. */
    uint64_t required;
    /* As `required`, for features that a host may ignore. */
    uint64_t optional;
} divvy_construct_call;

/* Documents that `divvy_describe_call.document` asks for. A plugin provides nothing for one that it does not know. */
/* The JSON Schema of the configuration. */
#define DIVVY_DOCUMENT_CONFIGURATION_SCHEMA 1u
/* The JSON Schema of the preferences. */
#define DIVVY_DOCUMENT_PREFERENCES_SCHEMA 2u
/* The policy lists that the strategies read: one text per list, a JSON object with `name`, `fields` (`name`, `minimum`,
 * `required`) and `priorities`. */
#define DIVVY_DOCUMENT_RULE_LISTS 3u
/* The tables that the plugin reads: one text per table, a JSON object with `name` and `columns` (`name`, `type`:
 * `integer`, `decimal`, `text`, `boolean`, `time` or `weekly`, and `scale` for a decimal). The columns of all tables,
 * in this order, are those of `divvy_cycle_view.table_columns`. A table with several rows per key has `"rows":
 * "several"`, and needs `DIVVY_FEATURE_TABLE_ROWS`. */
#define DIVVY_DOCUMENT_TABLES 4u

/* Limits on what a plugin passes to the host while it runs. The host drops what exceeds them. It cuts a text between
 * two characters, and reports the cut where it shows the text and, once per call, in its log. */
/* Maximum length of a text in bytes: a reason, an explanation, a note, a log message, or a text of a failure. */
#define DIVVY_LIMIT_TEXT_BYTES 0x10000u
/* Maximum number of reasons, explanations and notes of a call together. */
#define DIVVY_LIMIT_TEXTS 0x10000u
/* Maximum length of the reasons, explanations and notes of a call together, in bytes. */
#define DIVVY_LIMIT_TEXTS_BYTES 0x1000000u
/* Maximum number of figures of a reason. */
#define DIVVY_LIMIT_FIGURES 32u
/* Maximum length of the name of a figure, a counter or a histogram, in bytes. */
#define DIVVY_LIMIT_FIGURE_NAME_BYTES 64u
/* Maximum number of counters of a plugin. */
#define DIVVY_LIMIT_COUNTERS 64u
/* Maximum number of histograms of a plugin. */
#define DIVVY_LIMIT_HISTOGRAMS 16u
/* Maximum number of log records of a call. Records from other threads of the plugin do not belong to a call, and are
 * not limited. */
#define DIVVY_LIMIT_LOG_RECORDS 16384u
/* Maximum number of documents of one kind of `DIVVY_DOCUMENT_*`. The host refuses a plugin with more, or with longer
 * ones. */
#define DIVVY_LIMIT_DOCUMENTS 256u
/* Maximum length of a document in bytes. */
#define DIVVY_LIMIT_DOCUMENT_BYTES 0x100000u

/* Takes a document: `divvy_describe_call.sink` and the text. */
typedef void (*divvy_document_function)(const void *sink, divvy_text text);

/* Asks for a document about the plugin. It needs no instance. */
typedef struct divvy_describe_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_DESCRIBE`. */
    uint32_t kind;
    /* A value of `DIVVY_DOCUMENT_*`. */
    uint32_t document;
    /* Zero. */
    uint32_t reserved;
    /* The host's own value for `take`. */
    DIVVY_POINTER(void, sink)
    /* Takes each document. */
    DIVVY_FUNCTION(divvy_document_function, take)
} divvy_describe_call;

/* ----------------------------------------------------------------------------------------------------------------
 * Views that every call of a cycle can read
 */

/* Bits of `divvy_cycle_view.flags`. */
/* The division starts from scratch: a reschedule was requested. */
#define DIVVY_CYCLE_FRESH UINT64_C(1)
/* The resource has replicas to divide. */
#define DIVVY_CYCLE_WORKLOAD (UINT64_C(1) << 1)
/* An explanation was requested: plugins report explanations and reasons. */
#define DIVVY_CYCLE_EXPLAIN (UINT64_C(1) << 2)
/* The binding has a namespace. */
#define DIVVY_CYCLE_NAMESPACED (UINT64_C(1) << 3)
/* Every candidate gets the full count. */
#define DIVVY_CYCLE_DUPLICATED (UINT64_C(1) << 4)
/* Select ignores the spread constraints, because the strategy does. */
#define DIVVY_CYCLE_IGNORE_SPREAD (UINT64_C(1) << 5)
/* The time of the decision is known. */
#define DIVVY_CYCLE_TIME (UINT64_C(1) << 6)
/* The labels and annotations of the policy are known. */
#define DIVVY_CYCLE_POLICY_METADATA (UINT64_C(1) << 7)
/* The labels and annotations of the workload are known. */
#define DIVVY_CYCLE_WORKLOAD_METADATA (UINT64_C(1) << 8)

/* The workload affinity groups of a binding, and where the other bindings in them are placed. Like everything that a
 * view points to, it lives as long as the call. */
typedef struct divvy_placements_view {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_PLACEMENTS`. */
    uint32_t kind;
    /* The string that the texts of this view are spans of. */
    divvy_text pool;
    /* Name of the binding's affinity group, `<label key>=<label value>`; empty if it has none. */
    divvy_pool_text affinity_group;
    /* Name of the binding's anti-affinity group; empty if it has none. */
    divvy_pool_text anti_affinity_group;
    /* The other bindings in these groups, by name. All have the namespace of the binding. */
    divvy_peer_row_slice peers;
    /* Clusters of the peers with their replicas. */
    divvy_target_row_slice targets;
    /* Row of each entry of `targets` in the snapshot; `DIVVY_NO_ROW` if the cluster is gone. */
    divvy_u32_slice target_rows;
} divvy_placements_view;

/* One attempt to schedule one binding against one snapshot, visible to every call of the cycle. */
typedef struct divvy_cycle_view {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_CYCLE`. */
    uint32_t kind;
    /* The snapshot: the words of an arena. */
    divvy_u64_slice snapshot;
    /* Bits of `DIVVY_CYCLE_*`. */
    uint64_t flags;
    /* Seed of the binding, from the profile's seed and the binding's UID. */
    uint64_t seed;
    /* Replicas to divide. */
    int64_t replicas;
    /* The string that all texts below are spans of. */
    divvy_text pool;
    /* Names of the binding and its resource. */
    divvy_binding_names names;
    /* Cluster names and selector values. */
    divvy_pool_text_slice texts;
    /* Cluster affinities. */
    divvy_affinity_row_slice affinities;
    /* Expressions of the affinities' selectors. */
    divvy_expression_row_slice expressions;
    /* The affinities of the placement, in `affinities`. A cluster must match one of them; without any, every cluster
     * matches. */
    divvy_span placement_affinities;
    /* Tolerations. */
    divvy_toleration_row_slice tolerations;
    /* Spread constraints that are in force. */
    divvy_spread_constraint_row_slice spread_constraints;
    /* Requests of the binding's replicas (`replica_requests`) and of its components. */
    divvy_request_row_slice requests;
    /* Requests of one replica, in `requests`. */
    divvy_span replica_requests;
    /* Components. */
    divvy_component_row_slice components;
    /* The last result, as the binding lists it. */
    divvy_target_row_slice last;
    /* Row of each entry of `last` in the snapshot; `DIVVY_NO_ROW` if the cluster is gone. */
    divvy_u32_slice last_rows;
    /* Clusters that the binding is being evicted from. */
    divvy_pool_text_slice evictions;
    /* Labels of the binding. */
    divvy_pair_row_slice labels;
    /* Annotations of the binding. */
    divvy_pair_row_slice annotations;
    /* Time of the decision in milliseconds since 1970, with `DIVVY_CYCLE_TIME`; otherwise 0. Given only if a plugin of
     * the profile declares that need; the same is true of the fields below. */
    int64_t time;
    /* Priority of the binding in the scheduling queue, larger first. */
    int64_t priority;
    /* Labels of the policy, by key, with `DIVVY_CYCLE_POLICY_METADATA`. */
    divvy_pair_row_slice policy_labels;
    /* Annotations of the policy, by key, with `DIVVY_CYCLE_POLICY_METADATA`. */
    divvy_pair_row_slice policy_annotations;
    /* Labels of the workload, by key, with `DIVVY_CYCLE_WORKLOAD_METADATA`. */
    divvy_pair_row_slice workload_labels;
    /* Annotations of the workload, by key, with `DIVVY_CYCLE_WORKLOAD_METADATA`. */
    divvy_pair_row_slice workload_annotations;
    /* Columns of the tables that the called plugin declares, in the order in which it declares them. Empty for a plugin
     * that declares none, as are the fields below. */
    divvy_table_column_row_slice table_columns;
    /* Cells of the tables, one per column and cluster: that of column `c` and row `r` of the snapshot is at `c` times
     * the number of clusters plus `r`. 0 if the cell is missing. */
    divvy_i64_slice table_cells;
    /* One bit per cell: 1 if the cell is there. A column has as many words as hold one bit per cluster; the bit of row
     * `r` is bit `r % 64` of its word `r / 64`. */
    divvy_u64_slice table_presence;
    /* Texts that cells refer to. */
    divvy_pool_text_slice table_texts;
    /* The string that all texts of the tables are spans of. */
    divvy_text table_pool;
    /* Placements of the bindings with which this one shares a workload affinity group; null if they are not known. */
    DIVVY_POINTER(const divvy_placements_view, placements)
    /* Cells of the tables that are declared with several rows per key. In `table_cells`, a column of such a table has
     * the cluster's run of these cells: the upper 32 bits are the first, the lower 32 bits the number. All columns of a
     * table have as many in the same order. */
    divvy_i64_slice table_row_cells;
    /* One bit per cell of `table_row_cells`: 1 if the cell is there. */
    divvy_u64_slice table_row_presence;
    /* Hours of a week that cells refer to. */
    divvy_weekly_row_slice table_weekly;
    /* Offsets of time zones that hours of a week refer to. */
    divvy_offset_row_slice table_offsets;
} divvy_cycle_view;

/*
 * The cell of a declared column in a row of the snapshot: 1 if it is there, and then its value in `cell`; otherwise 0.
 * `columns` counts through all tables that the plugin declares.
 */
static inline int divvy_table_cell(const divvy_cycle_view *cycle, uint64_t column, uint64_t row, int64_t *cell)
{
    uint64_t columns = cycle->table_columns.length;
    uint64_t rows = columns == 0 ? 0 : cycle->table_cells.length / columns;
    uint64_t words = (rows + 63) / 64;
    if (column >= columns || row >= rows || cycle->table_presence.length < columns * words) {
        return 0;
    }
    if ((cycle->table_presence.data[column * words + row / 64] >> (row % 64) & 1) == 0) {
        return 0;
    }
    *cell = cycle->table_cells.data[column * rows + row];
    return 1;
}

/*
 * The number of rows that a table with several rows per key has for a row of the snapshot, by any of its columns.
 */
static inline uint64_t divvy_table_rows(const divvy_cycle_view *cycle, uint64_t column, uint64_t row)
{
    int64_t run;
    return divvy_table_cell(cycle, column, row, &run) ? (uint64_t)run & 0xffffffffu : 0;
}

/*
 * The cell of a declared column in one of these rows, counted from 0: 1 if it is there, and then its value in `cell`;
 * otherwise 0.
 */
static inline int divvy_table_row_cell(const divvy_cycle_view *cycle, uint64_t column, uint64_t row, uint64_t number,
                                       int64_t *cell)
{
    int64_t run;
    if (!divvy_table_cell(cycle, column, row, &run) || number >= ((uint64_t)run & 0xffffffffu)) {
        return 0;
    }
    const uint64_t index = ((uint64_t)run >> 32) + number;
    if (index >= cycle->table_row_cells.length || index / 64 >= cycle->table_row_presence.length) {
        return 0;
    }
    if ((cycle->table_row_presence.data[index / 64] >> (index % 64) & 1) == 0) {
        return 0;
    }
    *cell = cycle->table_row_cells.data[index];
    return 1;
}

/* The preferences and rules of the policy for the plugin that is called. Other plugins do not see them. */
typedef struct divvy_policy_view {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_POLICY`. */
    uint32_t kind;
    /* Preferences as JSON, in `divvy_cycle_view.pool`; empty if the policy carries none. */
    divvy_pool_text preferences;
    /* Entries of the policy lists that the plugin declares. */
    divvy_rule_row_slice rules;
    /* Values of the rules. */
    divvy_rule_value_row_slice rule_values;
    /* Span of each rule's clusters in `rule_rows`. */
    divvy_span_slice rule_spans;
    /* Rows of the clusters that each rule matches, ascending within a rule. */
    divvy_u32_slice rule_rows;
} divvy_policy_view;

/* ----------------------------------------------------------------------------------------------------------------
 * Calls
 */

/* The beginning of every call. It never changes. */
typedef struct divvy_call_head {
    /* Size of the call in bytes, as the host knows it. */
    uint32_t size;
    /* Kind of the call: a value of `DIVVY_KIND_*`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
} divvy_call_head;

/* The function that drops what a plugin prepared or keeps. */
typedef void (*divvy_release_function)(void *state);

/* Prepares state for several calls of one kind in one cycle. Only plugins that declare this kind get it, and only
 * before a call that is repeated, such as Assign over tiers. The host drops the state before the cycle ends.
 * Experimental: a minor version may stop making this call. */
typedef struct divvy_prepare_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_PREPARE`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* The kind of the calls that the state is for. */
    uint32_t point;
    /* Zero. */
    uint32_t reserved;
    /* The state, written by the plugin. The host passes it as `divvy_call_head.prepared`. */
    DIVVY_POINTER(void, state)
    /* The function that drops the state, written by the plugin; null if nothing is to be dropped. */
    DIVVY_FUNCTION(divvy_release_function, release)
} divvy_prepare_call;

/* Makes the value that a plugin keeps for a snapshot, before the first call that reads the snapshot. The host does not
 * make the call if no column has changed that `divvy_point_descriptor.reads` names. Only plugins that declare this kind
 * get it. The cycle has the snapshot and the plugin's tables, but nothing of a binding. The host drops the value when
 * it has the next one, or when the instance is dropped. */
typedef struct divvy_snapshot_value_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_SNAPSHOT_VALUE`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* The value for an earlier snapshot; null if there is none. It stays valid during the call. */
    DIVVY_POINTER(void, previous)
    /* Rows whose clusters have changed since the earlier snapshot, ascending and without duplicates, if `changes_known`
     * is 1. */
    divvy_u32_slice changed_rows;
    /* 1 if both snapshots have the same clusters in the same rows, the texts of the earlier one keep their symbols, the
     * tables are the same, and `changed_rows` lists what changed; 0 if anything may have changed. */
    uint32_t changes_known;
    /* Zero. */
    uint32_t reserved;
    /* The value, written by the plugin. The host passes it as `divvy_call_head.snapshot_value`. */
    DIVVY_POINTER(void, value)
    /* The function that drops the value, written by the plugin; null if nothing is to be dropped. */
    DIVVY_FUNCTION(divvy_release_function, release)
} divvy_snapshot_value_call;

/* Makes the value that a plugin keeps for a binding, once per plan of it. Only plugins that declare this kind get it.
 * The cycle has only the binding: the snapshot is empty, and there are no rows. The host drops the value with the
 * plan. */
typedef struct divvy_binding_value_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_BINDING_VALUE`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* The value, written by the plugin. The host passes it as `divvy_call_head.binding_value`. */
    DIVVY_POINTER(void, value)
    /* The function that drops the value, written by the plugin; null if nothing is to be dropped. */
    DIVVY_FUNCTION(divvy_release_function, release)
} divvy_binding_value_call;

/* Rejects clusters. */
typedef struct divvy_filter_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_FILTER`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* Per cluster of the snapshot: 0 while it is feasible, otherwise a code. The plugin writes codes where it finds 0,
     * and nothing elsewhere. */
    divvy_u32_out codes;
    /* The code to write if no explanation was requested; otherwise `divvy_services.text` answers with the code. */
    uint32_t code;
    /* Zero. */
    uint32_t reserved;
    /* Per cluster of the snapshot: 1 if it takes no further replicas of the binding and keeps those of the last result,
     * written by the plugin where `codes` has 0; 0 on entry. Empty unless the plugin needs `DIVVY_FEATURE_CORDONS`. A
     * cluster that the last result does not list is rejected instead. */
    divvy_u32_out cordoned;
} divvy_filter_call;

/* Scores the feasible clusters, from 0 to 100 after normalisation. */
typedef struct divvy_score_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_SCORE`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* Rows of the clusters of the call: for Score the feasible ones, ascending; for Select the same, or what the
     * selector before chose, in its order; for Assign the candidates, in the order of the last selector. The columns
     * below have one element per row of this column. */
    divvy_u32_slice rows;
    /* Total scores so far. */
    divvy_i64_slice scores;
    /* Replicas in the last result; 0 if it does not list the cluster. */
    divvy_i64_slice last;
    /* Index in `divvy_cycle_view.last`; `DIVVY_NO_ROW` if it does not list the cluster. Empty if the last result lists
     * no feasible cluster. */
    divvy_u32_slice last_index;
    /* Replicas that fit now, beyond those of the last result. */
    divvy_i64_slice fits_now;
    /* Maximum number of replicas for the cluster; never more than `fits_now` plus `last`. */
    divvy_i64_slice capacity;
    /* Tier of each cluster, 0 being the best. Empty without tiers. */
    divvy_u32_slice tiers;
    /* Per feasible cluster: its score, written by the plugin; 0 on entry. */
    divvy_i64_out result;
} divvy_score_call;

/* Picks the candidates. */
typedef struct divvy_select_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_SELECT`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* Rows of the clusters of the call: for Score the feasible ones, ascending; for Select the same, or what the
     * selector before chose, in its order; for Assign the candidates, in the order of the last selector. The columns
     * below have one element per row of this column. */
    divvy_u32_slice rows;
    /* Total scores so far. */
    divvy_i64_slice scores;
    /* Replicas in the last result; 0 if it does not list the cluster. */
    divvy_i64_slice last;
    /* Index in `divvy_cycle_view.last`; `DIVVY_NO_ROW` if it does not list the cluster. Empty if the last result lists
     * no feasible cluster. */
    divvy_u32_slice last_index;
    /* Replicas that fit now, beyond those of the last result. */
    divvy_i64_slice fits_now;
    /* Maximum number of replicas for the cluster; never more than `fits_now` plus `last`. */
    divvy_i64_slice capacity;
    /* Tier of each cluster, 0 being the best. Empty without tiers. */
    divvy_u32_slice tiers;
    /* Replicas that the candidates together must have room for; negative if room does not matter. */
    int64_t needed;
    /* The candidates, as indices into the columns above, written by the plugin from the front. Its length is the number
     * of rows. */
    divvy_u32_out candidates;
    /* The number of candidates, written by the plugin. */
    uint64_t count;
} divvy_select_call;

/* Divides the replicas over the candidates. */
typedef struct divvy_assign_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_ASSIGN`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* Rows of the clusters of the call: for Score the feasible ones, ascending; for Select the same, or what the
     * selector before chose, in its order; for Assign the candidates, in the order of the last selector. The columns
     * below have one element per row of this column. */
    divvy_u32_slice rows;
    /* Total scores so far. */
    divvy_i64_slice scores;
    /* Replicas in the last result; 0 if it does not list the cluster. */
    divvy_i64_slice last;
    /* Index in `divvy_cycle_view.last`; `DIVVY_NO_ROW` if it does not list the cluster. Empty if the last result lists
     * no feasible cluster. */
    divvy_u32_slice last_index;
    /* Replicas that fit now, beyond those of the last result. */
    divvy_i64_slice fits_now;
    /* Maximum number of replicas for the cluster; never more than `fits_now` plus `last`. */
    divvy_i64_slice capacity;
    /* Tier of each cluster, 0 being the best. Empty without tiers. */
    divvy_u32_slice tiers;
    /* Replicas to divide in this call. */
    int64_t replicas;
    /* The tier that this call divides over, 0 being the best. */
    uint32_t tier;
    /* Number of tiers; 1 without tiers, or if the strategy walks them itself. */
    uint32_t tier_count;
    /* Index in the cluster names of the placement's affinities; `DIVVY_NO_ROW` if the cluster is not listed. Empty if
     * the placement lists no names. */
    divvy_u32_slice policy_index;
    /* Rows of the candidates of all tiers. */
    divvy_u32_slice all_rows;
    /* Per candidate: its replicas, written by the plugin; 0 on entry. */
    divvy_i64_out result;
    /* A promise about `result`, written by the plugin, as are the next four: replicas on at least this many candidates,
     * or on as many as there are replicas, if these are fewer; 0 without a promise. The host checks each result against
     * the promises that come with it, and a broken one is an error of the plugin. Since ABI 1.1. */
    uint32_t least_clusters;
    /* Replicas on at most this many candidates; `UINT32_MAX` without a promise. Since ABI 1.1. */
    uint32_t most_clusters;
    /* Replicas on at most this many candidates of each provider; `UINT32_MAX` without a promise. Clusters without a
     * provider are not counted. Since ABI 1.1. */
    uint32_t most_per_provider;
    /* The same for regions. Since ABI 1.1. */
    uint32_t most_per_region;
    /* The same for zones; a cluster with several counts in each of them. Since ABI 1.1. */
    uint32_t most_per_zone;
    /* Zero. Since ABI 1.1. */
    uint32_t reserved;
} divvy_assign_call;

/* Reasons for which a pace takes no step: values of `divvy_pace_call.wait`. A host that does not know a value treats it
 * as `DIVVY_WAIT_OTHER`. Since ABI 1.1. */
/* It does not wait. */
#define DIVVY_WAIT_NONE 0u
/* For replicas to become ready. */
#define DIVVY_WAIT_READINESS 1u
/* For replicas that no result gives any more to be gone. */
#define DIVVY_WAIT_REMOVAL 2u
/* For room in the clusters that are to get replicas. */
#define DIVVY_WAIT_ROOM 3u
/* A further cluster would exceed the greatest number of clusters. */
#define DIVVY_WAIT_CLUSTERS 4u
/* The allowances permit no step. */
#define DIVVY_WAIT_ALLOWANCE 5u
/* Something else, which the plugin explains by a text. */
#define DIVVY_WAIT_OTHER 6u

/* Says the next step of a move: the result that a binding gets on its way from its result to the target. Since ABI 1.1.
 *
 * The clusters of the call are those of the present result, of the target, and all in which replicas of the binding are
 * still there. The columns have one element per cluster. In `cycle`, the last result is the present one, and the number
 * of replicas is `total`. */
typedef struct divvy_pace_call {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_PACE`. */
    uint32_t kind;
    /* The cycle. */
    DIVVY_POINTER(const divvy_cycle_view, cycle)
    /* Preferences and rules of the policy for this plugin; null if there are none. */
    DIVVY_POINTER(const divvy_policy_view, policy)
    /* The host's own value for `divvy_services.text` and `divvy_services.fail`. */
    DIVVY_POINTER(void, sink)
    /* State that the plugin prepared for this cycle; null if it prepared none. */
    DIVVY_POINTER(void, prepared)
    /* The value that the plugin keeps for this snapshot; null if it keeps none. */
    DIVVY_POINTER(void, snapshot_value)
    /* The value that the plugin keeps for this binding; null if it keeps none. */
    DIVVY_POINTER(void, binding_value)
    /* Time until which the answer holds, in milliseconds since 1970, written by the plugin; `INT64_MAX` if the passing
     * of time does not change it. The host ignores it in calls for values. */
    int64_t valid_until;
    /* Row of each cluster in the snapshot; `DIVVY_NO_ROW` if the cluster is gone. */
    divvy_u32_slice rows;
    /* Replicas that the present result gives. */
    divvy_i64_slice current;
    /* Replicas that are there; more than `current` while replicas are being removed, fewer while they are being
     * created. */
    divvy_i64_slice present;
    /* Replicas that are known to be ready: a lower bound, never more than `present`. */
    divvy_i64_slice ready;
    /* Replicas in the target. */
    divvy_i64_slice target;
    /* Further replicas that fit, beyond `current`; `INT64_MAX` if room does not limit them. */
    divvy_i64_slice room;
    /* Replicas that the binding asks for. */
    int64_t total;
    /* Replicas that a result may have beyond `total`. */
    int64_t max_surge;
    /* Replicas by which the ready ones may fall below `total`. */
    int64_t max_unavailable;
    /* The greatest number of clusters that a result may have; 0 without a limit. */
    uint32_t max_clusters;
    /* Why the plugin takes no step, written by it: a value of `DIVVY_WAIT_*`; 0 on entry. */
    uint32_t wait;
    /* Per cluster: its replicas in the next result, written by the plugin; `current` on entry. */
    divvy_i64_out next;
} divvy_pace_call;

/* ----------------------------------------------------------------------------------------------------------------
 * Exports of a library
 */

/* Features: what a plugin needs from the host and promises about its results.
 *
 * A plugin lists a feature as *required* or as *optional*. A host refuses a plugin that requires a feature which the
 * host does not know, and ignores an optional one. A feature that loosens a check, and a need without which the plugin
 * decides wrongly, is therefore always required; a promise that adds a check, or that saves the host calls, is
 * optional.
 *
 * An input that a plugin must not ignore is given only to plugins that list the feature for it. */
/* Need: the raw JSON of each cluster is in the snapshot. */
#define DIVVY_FEATURE_RAW_CLUSTERS UINT64_C(1)
/* Promise, required: every candidate gets the full count. */
#define DIVVY_FEATURE_DUPLICATES (UINT64_C(1) << 1)
/* Promise: no cluster gets more replicas than its capacity. */
#define DIVVY_FEATURE_RESPECTS_CAPACITY (UINT64_C(1) << 2)
/* Promise: the result does not depend on the order of the candidates. */
#define DIVVY_FEATURE_ORDER_INDEPENDENT (UINT64_C(1) << 3)
/* Promise: scheduling again with the plugin's result as the last result changes nothing. */
#define DIVVY_FEATURE_INERT (UINT64_C(1) << 4)
/* Need: the plugin walks the tiers of cluster priorities itself, so the host does not split the call. */
#define DIVVY_FEATURE_OWN_TIERS (UINT64_C(1) << 5)
/* Need: the strategy ignores spread constraints, so the host hides them from Select. */
#define DIVVY_FEATURE_NO_SPREAD (UINT64_C(1) << 6)
/* Need: within a tier, only clusters with a positive value in some rule take part, unless no cluster has one. */
#define DIVVY_FEATURE_RULES_DECIDE_TIERS (UINT64_C(1) << 7)
/* Need: the result may exceed capacity in the last tier. */
#define DIVVY_FEATURE_LAST_TIER_OVERFLOWS (UINT64_C(1) << 8)
/* Need: cluster priorities cannot be combined with the strategy. */
#define DIVVY_FEATURE_NO_PRIORITIES (UINT64_C(1) << 9)
/* Need: the priority of the binding, and the labels and annotations of its policy and its workload. */
#define DIVVY_FEATURE_METADATA (UINT64_C(1) << 10)
/* Need: the time of the decision. */
#define DIVVY_FEATURE_TIME (UINT64_C(1) << 11)
/* Need: the tables that `DIVVY_DOCUMENT_TABLES` lists. */
#define DIVVY_FEATURE_TABLES (UINT64_C(1) << 12)
/* Need: the placements of the bindings with which the binding shares a workload affinity group. */
#define DIVVY_FEATURE_PLACEMENTS (UINT64_C(1) << 13)
/* Need: tables with several rows per key. */
#define DIVVY_FEATURE_TABLE_ROWS (UINT64_C(1) << 14)
/* Need of a filter: it can cordon clusters (`divvy_filter_call.cordoned`). */
#define DIVVY_FEATURE_CORDONS (UINT64_C(1) << 15)
/* Promise of a selector: its candidates satisfy the spread constraints. No other selector may follow it. */
#define DIVVY_FEATURE_ENFORCES_SPREAD (UINT64_C(1) << 16)
/* Promise of a filter: the clusters that it leaves satisfy the binding's workload affinity. */
#define DIVVY_FEATURE_ENFORCES_AFFINITY (UINT64_C(1) << 17)
/* Promise of a filter: the clusters that it leaves satisfy the binding's workload anti-affinity. */
#define DIVVY_FEATURE_ENFORCES_ANTI_AFFINITY (UINT64_C(1) << 18)
/* Promise: removing a cluster changes nothing for the others, whatever room they have, as long as the binding and the
 * placements of its peers stay the same. A filter rejects the same of them, a selector picks the same of them, a
 * strategy gives each its full count, and no call fails that would succeed with the cluster, unless no cluster is left.
 * A selector and a strategy promise it only where the strategy duplicates, no spread constraints are in force and there
 * are no tiers; scores may change. */
#define DIVVY_FEATURE_EACH_ALONE (UINT64_C(1) << 19)
/* All features of this version. */
#define DIVVY_FEATURE_ALL UINT64_C(0xfffff)
/* Features that a plugin lists as optional; all others are required. */
#define DIVVY_FEATURE_OPTIONAL UINT64_C(0xf001c)
/* Promises that a part of a placement is enforced. */
#define DIVVY_FEATURE_ENFORCES UINT64_C(0x70000)

/* Parts of a binding: bits of `divvy_point_descriptor.acts_on`, by which a plugin names the parts that its calls act
 * on.
 *
 * A binding has a part as soon as a plugin could see anything of it, whether or not it concerns a cluster of the
 * snapshot. */
/* A last result: it lists a cluster, with any number of replicas, even one that is gone. */
#define DIVVY_PART_LAST_RESULT UINT64_C(1)
/* Graceful eviction tasks. */
#define DIVVY_PART_EVICTIONS (UINT64_C(1) << 1)
/* Spread constraints, even if Select ignores them for the strategy. */
#define DIVVY_PART_SPREAD_CONSTRAINTS (UINT64_C(1) << 2)
/* Cluster affinities of the placement, even one without conditions. */
#define DIVVY_PART_CLUSTER_AFFINITIES (UINT64_C(1) << 3)
/* A workload affinity group, or placements of other bindings that are not known. */
#define DIVVY_PART_AFFINITY_GROUP (UINT64_C(1) << 4)
/* A workload anti-affinity group, or placements of other bindings that are not known. */
#define DIVVY_PART_ANTI_AFFINITY_GROUP (UINT64_C(1) << 5)
/* All parts of this version. */
#define DIVVY_PART_ALL UINT64_C(0x3f)

/* Limits of a descriptor. The host refuses a library that exceeds one. */
/* Maximum number of plugins in a library. */
#define DIVVY_LIMIT_PLUGINS 256u
/* Maximum number of extension points of a plugin. */
#define DIVVY_LIMIT_POINTS 64u
/* Maximum number of strategies of a plugin. */
#define DIVVY_LIMIT_STRATEGIES 256u
/* Maximum length of a version, and of the name of a plugin or a strategy, in bytes. */
#define DIVVY_LIMIT_NAME_BYTES 64u
/* Maximum length of a description in bytes. */
#define DIVVY_LIMIT_DESCRIPTION_BYTES 1024u

/* The function that answers a plugin's calls. Its arguments: the instance that was constructed, and the call. It
 * returns 0, or a code of `DIVVY_FAILURE_*`. */
typedef uint32_t (*divvy_call_function)(const void *instance, divvy_call_head *call);

/* Constructs a plugin. Returns 0, or a code of `DIVVY_FAILURE_*`. */
typedef uint32_t (*divvy_construct_function)(divvy_construct_call *call);

/* Drops the instance of a plugin. */
typedef void (*divvy_destroy_function)(void *instance);

/* Passes the documents of one kind to `divvy_describe_call.take`. Returns 0, or a code of `DIVVY_FAILURE_*`. */
typedef uint32_t (*divvy_describe_function)(const divvy_describe_call *call);

/* A kind of calls that a plugin answers: an extension point, or `DIVVY_KIND_PREPARE`. A host ignores kinds that it does
 * not know. */
typedef struct divvy_point_descriptor {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_POINT`. */
    uint32_t kind;
    /* The kind of the calls: a value of `DIVVY_KIND_*`. */
    uint32_t point;
    /* Zero. */
    uint32_t reserved;
    /* Required features at this point: bits of `DIVVY_FEATURE_*`. */
    uint64_t required;
    /* Optional features at this point. */
    uint64_t optional;
    /* For `DIVVY_KIND_SNAPSHOT_VALUE`: the columns of clusters that the value is made from, as bits of `DIVVY_GROUP_*`.
     * The host keeps the value until one of them changes; tables that the plugin reads count in any case. The plugin
     * must read no other column while it makes the value. 0 if they are not known; the value is then made anew after
     * every change, as it is for a bit that the host does not know. */
    uint64_t reads;
    /* For `DIVVY_KIND_FILTER` and `DIVVY_KIND_SCORE`: the parts of a binding that a call acts on, as bits of
     * `DIVVY_PART_*`. For a binding that has none of them, a call would change nothing: it would reject no cluster,
     * score each cluster 0, pass no text to the host, set no limit to how long its answer holds, and not fail. The host
     * does not make such a call, unless the policy carries preferences for the plugin. 0 if a call may act on any
     * binding; the plugin is then called for each, as it is for a bit that the host does not know. */
    uint64_t acts_on;
} divvy_point_descriptor;

/* A list of pointers. */
typedef struct divvy_point_descriptor_list {
    DIVVY_POINTER(const divvy_point_descriptor *const, data)
    uint64_t length;
} divvy_point_descriptor_list;

/* A strategy that a plugin serves at Assign. */
typedef struct divvy_strategy_descriptor {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_STRATEGY`. */
    uint32_t kind;
    /* Name of the strategy. */
    divvy_text name;
    /* Required features of this strategy: bits of `DIVVY_FEATURE_*`. */
    uint64_t required;
    /* Optional features of this strategy. */
    uint64_t optional;
} divvy_strategy_descriptor;

/* A list of pointers. */
typedef struct divvy_strategy_descriptor_list {
    DIVVY_POINTER(const divvy_strategy_descriptor *const, data)
    uint64_t length;
} divvy_strategy_descriptor_list;

/* One plugin of a library. */
typedef struct divvy_descriptor {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_DESCRIPTOR`. */
    uint32_t kind;
    /* The minor version of the ABI that the plugin was built with. */
    uint32_t abi_minor;
    /* The least minor version of the host's ABI with which the plugin works. */
    uint32_t least_minor;
    /* The plugin's name. */
    divvy_text name;
    /* The plugin's version. */
    divvy_text version;
    /* A phrase that describes the plugin. */
    divvy_text description;
    /* The version of the SDK that the plugin was built with; empty without an SDK. */
    divvy_text sdk_version;
    /* Extension points that the plugin serves. */
    divvy_point_descriptor_list points;
    /* Strategies that the plugin serves; empty unless it serves Assign. */
    divvy_strategy_descriptor_list strategies;
    /* Constructs an instance. */
    DIVVY_FUNCTION(divvy_construct_function, construct)
    /* Drops an instance. */
    DIVVY_FUNCTION(divvy_destroy_function, destroy)
    /* Answers the calls to an instance. */
    DIVVY_FUNCTION(divvy_call_function, call)
    /* Provides documents about the plugin; null if there are none. */
    DIVVY_FUNCTION(divvy_describe_function, describe)
} divvy_descriptor;

/* A list of pointers. */
typedef struct divvy_descriptor_list {
    DIVVY_POINTER(const divvy_descriptor *const, data)
    uint64_t length;
} divvy_descriptor_list;

/* All plugins of a library: the symbol `divvy_plugin_v1`. */
typedef struct divvy_library {
    /* Size of the struct in bytes, as its creator knows it. */
    uint32_t size;
    /* `DIVVY_KIND_LIBRARY`. */
    uint32_t kind;
    /* The plugins. */
    divvy_descriptor_list plugins;
} divvy_library;

/*
 * Initialisers of these structs. They set every field of this header, so that sources need no change when a later header
 * appends one. `points` and `strategies` are arrays of addresses; names, versions and descriptions are string literals.
 */
#define DIVVY_POINT(point_, required_, optional_, reads_, acts_on_)                                                    \
    {                                                                                                                  \
        DIVVY_HEAD(divvy_point_descriptor, DIVVY_KIND_POINT), point_, 0, required_, optional_, reads_, acts_on_,       \
    }
#define DIVVY_STRATEGY(name_, required_, optional_)                                                                    \
    {                                                                                                                  \
        DIVVY_HEAD(divvy_strategy_descriptor, DIVVY_KIND_STRATEGY), DIVVY_LITERAL(name_), required_, optional_,        \
    }
#define DIVVY_DESCRIPTOR(name_, version_, description_, points_, point_count, strategies_, strategy_count, construct_, \
                         destroy_, call_, describe_)                                                                   \
    {                                                                                                                  \
        DIVVY_HEAD(divvy_descriptor, DIVVY_KIND_DESCRIPTOR), DIVVY_ABI_MINOR, DIVVY_LEAST_MINOR, DIVVY_LITERAL(name_), \
            DIVVY_LITERAL(version_), DIVVY_LITERAL(description_), DIVVY_LITERAL(""),                                   \
            {DIVVY_ADDRESS(points_), point_count}, {DIVVY_ADDRESS(strategies_), strategy_count},                       \
            DIVVY_ADDRESS(construct_), DIVVY_ADDRESS(destroy_), DIVVY_ADDRESS(call_), DIVVY_ADDRESS(describe_),        \
    }
#define DIVVY_LIBRARY(plugins_, plugin_count)                                                                          \
    {                                                                                                                  \
        DIVVY_HEAD(divvy_library, DIVVY_KIND_LIBRARY), {DIVVY_ADDRESS(plugins_), plugin_count},                        \
    }

/* ----------------------------------------------------------------------------------------------------------------
 * The record in the section `.divvy.plugin`
 */

/* Bytes reserved for each text of a record. */
#define DIVVY_TEXT_BYTES 64
/* Bytes reserved for the language of a record. */
#define DIVVY_LANGUAGE_BYTES 16

/* Bits of `divvy_plugin_record.flags`. A host may ignore an unknown bit among the lower sixteen, and refuses a library
 * with an unknown bit among the upper sixteen. */
/* The library carries a certificate. */
#define DIVVY_RECORD_CERTIFIED 1u
/* The bits that a host must know. */
#define DIVVY_RECORD_MUST_BE_KNOWN 0xffff0000u

/* The identity of a plugin, readable without opening its library. */
typedef struct divvy_plugin_record {
    /* `DivvyABI`. */
    uint8_t magic[8];
    /* Length of the record in bytes, a multiple of eight. */
    uint8_t length[4];
    /* Bits of `DIVVY_RECORD_*`. */
    uint8_t flags[4];
    /* Major ABI version. */
    uint8_t abi_major[4];
    /* Minor ABI version that the plugin was built with. */
    uint8_t abi_minor[4];
    /* Least minor version of the host's ABI with which the plugin works. */
    uint8_t least_minor[4];
    /* Zero. */
    uint8_t reserved[4];
    /* Programming language, lower case, UTF-8 padded with zero bytes. */
    uint8_t language[DIVVY_LANGUAGE_BYTES];
    /* Version of the SDK, UTF-8 padded with zero bytes; empty without an SDK. */
    uint8_t sdk_version[DIVVY_TEXT_BYTES];
    /* Name of the plugin, UTF-8 padded with zero bytes. */
    uint8_t name[DIVVY_TEXT_BYTES];
    /* Version of the plugin, UTF-8 padded with zero bytes. */
    uint8_t version[DIVVY_TEXT_BYTES];
} divvy_plugin_record;

/* The four bytes of a number, little endian. */
#define DIVVY_LITTLE_ENDIAN(number)                                                                                    \
    {                                                                                                                  \
        (uint8_t)((number)&0xffu), (uint8_t)((number) >> 8 & 0xffu), (uint8_t)((number) >> 16 & 0xffu),                \
            (uint8_t)((number) >> 24 & 0xffu)                                                                          \
    }

/*
 * Defines the record of a plugin with the static name `identifier`. `flags` is a set of `DIVVY_RECORD_*`; `language`,
 * `plugin` (its name) and `version` are string literals. A library with several plugins has one record for each.
 */
#define DIVVY_RECORD(identifier, flags_, language_, plugin_, version_)                                                 \
    __attribute__((section(".divvy.plugin"), used, aligned(8))) static const divvy_plugin_record identifier = {        \
        {'D', 'i', 'v', 'v', 'y', 'A', 'B', 'I'},                                                                      \
        DIVVY_LITTLE_ENDIAN(sizeof(divvy_plugin_record)),                                                              \
        DIVVY_LITTLE_ENDIAN(flags_),                                                                                   \
        DIVVY_LITTLE_ENDIAN(DIVVY_ABI_MAJOR),                                                                          \
        DIVVY_LITTLE_ENDIAN(DIVVY_ABI_MINOR),                                                                          \
        DIVVY_LITTLE_ENDIAN(DIVVY_LEAST_MINOR),                                                                        \
        {0, 0, 0, 0},                                                                                                  \
        language_,                                                                                                     \
        "",                                                                                                            \
        plugin_,                                                                                                       \
        version_,                                                                                                      \
    }

/* The exports of a library. Define it as `const divvy_library divvy_plugin_v1 = DIVVY_LIBRARY(...);`. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const divvy_library divvy_plugin_v1;

#ifdef __cplusplus
}
#endif

#endif /* DIVVY_PLUGIN_H */
