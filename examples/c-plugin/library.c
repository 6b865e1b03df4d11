/*
 * The exports of the library: both plugins.
 */
#include "divvy_plugin.h"

extern const divvy_descriptor fill_in_order;
extern const divvy_descriptor ready_only;

static const divvy_descriptor *const plugins[] = {&fill_in_order, &ready_only};

const divvy_library divvy_plugin_v1 = DIVVY_LIBRARY(plugins, 2);
