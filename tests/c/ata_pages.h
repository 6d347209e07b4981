/* SPDX-License-Identifier: MIT */
/* IDENTIFY DEVICE data of a small drive, for tests that answer in its place. */
#ifndef SATED_TESTS_ATA_PAGES_H
#define SATED_TESTS_ATA_PAGES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"

/* ACS-4, IDENTIFY DEVICE: the model in words 27 to 46, LBA in w49, 1000 sectors in w60, SMART supported in w82.0 and
 * enabled in w85.0, w83 and w87 valid, and word 255 begun; its checksum is the caller's. */
static inline void identify_page(uint8_t page[512], const char *model)
{
    char padded[41];
    snprintf(padded, sizeof padded, "%-40s", model);
    memset(page, 0, 512);
    for (int i = 0; i < 40; i++)
        page[54 + (i ^ 1)] = (uint8_t)padded[i];
    bytes_put_le16(page + 98, 0x0200);
    bytes_put_le32(page + 120, 1000);
    bytes_put_le16(page + 164, 0x0001);
    bytes_put_le16(page + 166, 0x4000);
    bytes_put_le16(page + 168, 0x4000);
    bytes_put_le16(page + 170, 0x0001);
    page[510] = 0xa5;
}

#endif
