/* SPDX-License-Identifier: MIT */
#include "load/alias.h"

/* A column that has less than its 1/n is filled up by one that has more. What rounding leaves over in the end stands
 * for itself. The small ones lie at the beginning of the room, the large ones at its end. */
void alias_make(double *left, uint32_t *room, uint32_t n, uint32_t *keep, uint32_t *other)
{
    uint32_t small = 0, large = n;
    for (uint32_t i = 0; i < n; i++) {
        left[i] *= n;
        keep[i] = UINT32_MAX;
        other[i] = i;
        if (left[i] < 1)
            room[small++] = i;
        else
            room[--large] = i;
    }
    while (small && large < n) {
        uint32_t s = room[--small], l = room[large];
        keep[s] = (uint32_t)(left[s] * 4294967296.0);
        other[s] = l;
        left[l] -= 1 - left[s];
        if (left[l] < 1) {
            large++;
            room[small++] = l;
        }
    }
}
