/* SPDX-License-Identifier: MIT */
/* Sense data as drives build it (SPC-5 4.4), for what speaks SCSI to the host: SAS drives, and ATA drives behind SAT. */
#include <string.h>

#include "core/bytes.h"
#include "sim/target_inside.h"

uint32_t target_sense_encode(const struct target_sense *sense, bool descriptor, uint8_t out[32])
{
    memset(out, 0, 32);
    if (!descriptor) {
        out[0] = sense->valid && sense->information <= UINT32_MAX ? 0xf0 : 0x70;
        out[2] = sense->key;
        if (out[0] & 0x80)
            bytes_put_be32(out + 3, (uint32_t)sense->information);
        out[7] = 10;
        out[12] = (uint8_t)(sense->code >> 8);
        out[13] = (uint8_t)sense->code;
        memcpy(out + 15, sense->sks, sense->specific ? 3 : 0);
        out[15] |= sense->specific ? 0x80 : 0;
        return 18;
    }
    uint32_t n = 8;
    out[0] = 0x72;
    out[1] = sense->key;
    out[2] = (uint8_t)(sense->code >> 8);
    out[3] = (uint8_t)sense->code;
    if (sense->valid) {
        out[n + 1] = 10;
        out[n + 2] = 0x80;
        bytes_put_be64(out + n + 4, sense->information);
        n += 12;
    }
    if (sense->specific) {
        out[n] = 2;
        out[n + 1] = 6;
        memcpy(out + n + 4, sense->sks, 3);
        out[n + 4] |= 0x80;
        n += 8;
    }
    out[7] = (uint8_t)(n - 8);
    return n;
}

void target_check_condition(struct sated_reply *reply, const struct target_sense *sense, bool descriptor)
{
    reply->scsi_status = CHECK_CONDITION;
    reply->driver_status = DRIVER_SENSE;
    reply->sense_len = target_sense_encode(sense, descriptor, reply->sense);
}
