/* SPDX-License-Identifier: MIT */
/* Drives whose answers stand in a test. */
#ifndef SATED_TESTS_REPLAYS_H
#define SATED_TESTS_REPLAYS_H

#include <sated/sated.h>

#include "check.h"
#include "tree.h"

#define HEAD "{\"sated_replay\": 1, \"exchanges\": ["

static struct sated_detail detail;
static struct sated_reply reply;
static uint8_t data[8192];

static inline int said(int rc)
{
    sated_detail_get(&detail);
    return rc;
}

static inline struct sated_drive *replayed(const char *text)
{
    static int number;
    struct sated_drive *d;
    char uri[700];
    put(in("replay%d.json", ++number), text);
    snprintf(uri, sizeof uri, "replay:%s", in("replay%d.json", number));
    if (said(sated_drive_open(&d, uri, NULL)))
        printf("%s\n", detail.text);
    return d;
}

static inline int scsi(struct sated_drive *d, const char *cdb, uint32_t n, uint32_t data_len)
{
    struct sated_scsi_command c = {.cdb_len = n, .data_len = data_len, .direction = data_len ? 1 : 0};
    memcpy(c.cdb, cdb, n);
    return said(sated_scsi_raw(d, &c, data, &reply));
}

static inline int nvme(struct sated_drive *d, uint32_t opcode, uint32_t nsid, uint32_t cdw10, uint32_t data_len)
{
    struct sated_nvme_command c = {
        .opcode = (uint8_t)opcode, .nsid = nsid, .cdw10 = cdw10, .data_len = data_len, .direction = data_len ? 1 : 0};
    return said(sated_nvme_admin_raw(d, &c, data, &reply));
}

#endif
