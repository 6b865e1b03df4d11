#include "rule.h"

bool keeps(uint32_t region)
{
    return region != 0;
}
