/* SPDX-License-Identifier: MIT */
/* What additional sense codes and operation codes mean, after T10's lists. */
#include "protocol/asc.h"

#include <sated/scsi.h>

#include <stdio.h>

static const char *find(const struct asc_entry *table, size_t n, unsigned code)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle].code == code)
            return table[middle].text;
        if (table[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool sated_scsi_asc_text(uint32_t asc, uint32_t ascq, char *text, size_t cap)
{
    unsigned code = (asc & 0xff) << 8 | (ascq & 0xff);
    const char *found = find(asc_low, asc_low_count, code);
    if (!found)
        found = find(asc_high, asc_high_count, code);
    if (found) {
        snprintf(text, cap, "%s", found);
        return true;
    }
    asc &= 0xff;
    ascq &= 0xff;
    switch (asc) {
    case 0x40:
        /* 40h/NN: the qualifier is the component, from 80h on. */
        if (ascq >= 0x80) {
            snprintf(text, cap, "Diagnostic failure on component %02Xh", ascq);
            return true;
        }
        break;
    case 0x4d: snprintf(text, cap, "Tagged overlapped commands (task tag %02Xh)", ascq); return true;
    case 0x70: snprintf(text, cap, "Decompression exception short algorithm ID of %02Xh", ascq); return true;
    default: break;
    }
    if (asc >= 0x80 || ascq >= 0x80)
        snprintf(text, cap, "Vendor specific (ASC %02Xh, ASCQ %02Xh)", asc, ascq);
    else
        snprintf(text, cap, "Reserved (ASC %02Xh, ASCQ %02Xh)", asc, ascq);
    return false;
}
