/* SPDX-License-Identifier: MIT */
/* What the SAS drive is: INQUIRY and vital product data (SPC-5, SBC-4 6.6), capacity, logical units, reservations. */
#include "sim/target_scsi_inside.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"

#define PROTOCOL_SAS 6
#define MINUTE_NS 60000000000

/* NAA addresses of one device differ in their last digit: logical unit 0, ports 1 and 2, device 3. */
uint64_t scsi_address(const struct sim *s, uint32_t port)
{
    return (target_wwn(s) & ~(uint64_t)3) + port;
}

static int standard(struct scsi_call *k, uint32_t wanted)
{
    /* SAM-5, SPL-3, SPC-5, SBC-4, each without a version claimed. */
    static const uint16_t versions[] = {0x00a0, 0x20e0, 0x05c0, 0x0600};
    uint8_t out[96] = {0, 0, 0x07, 0x12, sizeof out - 5, 0, 0x10, 0x02};
    char serial[20];
    target_serial(k->s, serial);
    target_put_text(out + 8, 8, k->s->model.vendor);
    target_put_text(out + 16, 16, k->s->model.product);
    target_put_text(out + 32, 4, k->s->model.firmware);
    target_put_text(out + 36, 20, serial);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        bytes_put_be16(out + 58 + 2 * i, versions[i]);
    return scsi_give(k, out, sizeof out, wanted);
}

/* ---- Pages. Each fills `out`, zeroed and with its header's first byte, from byte 4 on. Return: bytes behind byte 3. ---- */

#define PAGE_BYTES 256

static uint32_t page_serial(const struct sim *s, uint8_t *out)
{
    char serial[20];
    target_serial(s, serial);
    target_put_text(out + 4, 20, serial);
    return 20;
}

static uint32_t put_naa(uint8_t *out, uint8_t association, uint64_t address)
{
    out[0] = (uint8_t)(association ? PROTOCOL_SAS << 4 | 1 : 1);
    out[1] = (uint8_t)((association ? 0x80 : 0) | association << 4 | SATED_DESIGNATOR_NAA);
    out[3] = 8;
    bytes_put_be64(out + 4, address);
    return 12;
}

/* As seen through port 1. */
static uint32_t page_device_id(const struct sim *s, uint8_t *out)
{
    uint8_t *at = out + 4;
    at += put_naa(at, 0, scsi_address(s, 0));
    at += put_naa(at, 1, scsi_address(s, 1));
    memcpy(at, (uint8_t[]){PROTOCOL_SAS << 4 | 1, 0x90 | SATED_DESIGNATOR_PORT, 0, 4, 0, 0, 0, 1}, 8);
    at += 8;
    at += put_naa(at, 2, scsi_address(s, 3));
    memcpy(at, (uint8_t[]){PROTOCOL_SAS << 4 | 3, 0xa0 | SATED_DESIGNATOR_NAME, 0, 24}, 4);
    char name[24 + 1];
    snprintf(name, sizeof name, "naa.%016llX", (unsigned long long)scsi_address(s, 3));
    memcpy(at + 4, name, strlen(name)); /* padded with zeros to a multiple of 4 */
    at += 28;
    return (uint32_t)(at - out - 4);
}

static uint32_t page_extended(const struct sim *s, uint8_t *out)
{
    (void)s;
    out[5] = 0x07;                                                           /* HEADSUP, ORDSUP, SIMPSUP */
    out[6] = 0x01;                                                           /* V_SUP */
    out[7] = 0x01;                                                           /* LUICLR */
    bytes_put_be16(out + 10, (uint16_t)(SCSI_EXTENDED_TEST_NS / MINUTE_NS)); /* EXTENDED SELF-TEST COMPLETION MINUTES */
    out[13] = 252;                                                           /* MAXIMUM SUPPORTED SENSE DATA LENGTH */
    return 60;
}

/* Pages that ports have for themselves, then all others, which are shared. */
static uint32_t page_mode_policy(const struct sim *s, uint8_t *out)
{
    (void)s;
    static const uint8_t policies[] = {0x02, 0x00, 0x01, 0, 0x18, 0x00, 0x00, 0, 0x19, 0xff, 0x01, 0, 0x3f, 0xff, 0, 0};
    memcpy(out + 4, policies, sizeof policies);
    return sizeof policies;
}

static uint32_t page_power(const struct sim *s, uint8_t *out)
{
    (void)s;
    out[4] = 0x03; /* STANDBY_Y, STANDBY_Z */
    out[5] = 0x07; /* IDLE_C, IDLE_B, IDLE_A */
    for (int i = 6; i < 18; i += 2)
        bytes_put_be16(out + i, 1); /* recovery times, ms */
    return 14;
}

/* Of each port: transport layer retries are supported (SPL-4, VPD page 90h). */
static uint32_t page_protocol(const struct sim *s, uint8_t *out)
{
    (void)s;
    for (uint8_t i = 0; i < SCSI_PORTS; i++) {
        uint8_t *at = out + 4 + 12 * i;
        bytes_put_be16(at, (uint16_t)(i + 1));
        at[2] = PROTOCOL_SAS;
        bytes_put_be16(at + 6, 4);
        at[8] = 0x01; /* TLR CONTROL SUPPORTED */
    }
    return 12 * SCSI_PORTS;
}

static uint32_t page_limits(const struct sim *s, uint8_t *out)
{
    uint32_t bytes = s->target.scsi.block_bytes, unit = (uint32_t)s->model.unit_bytes;
    uint32_t per_unit = unit > bytes ? unit / bytes : 1;
    out[5] = SCSI_COMPARE_BLOCKS;
    bytes_put_be16(out + 6, (uint16_t)per_unit);
    bytes_put_be32(out + 8, SCSI_TRANSFER_BYTES / bytes);
    bytes_put_be32(out + 12, (128u << 10) / bytes);
    bytes_put_be32(out + 20, UINT32_MAX);
    bytes_put_be32(out + 24, SCSI_UNMAP_DESCRIPTORS);
    bytes_put_be32(out + 28, per_unit);
    bytes_put_be32(out + 32, 0x80000000); /* UGAVALID, alignment 0 */
    bytes_put_be64(out + 36, SCSI_WRITE_SAME_BYTES / bytes);
    return 60;
}

static uint32_t page_characteristics(const struct sim *s, uint8_t *out)
{
    (void)s;
    bytes_put_be16(out + 4, 1); /* it does not rotate */
    out[7] = 0x03;              /* 2.5 inches */
    out[8] = 0x02;              /* FUAB */
    return 60;
}

static uint32_t page_provisioning(const struct sim *s, uint8_t *out)
{
    (void)s;
    out[5] = 0xe4; /* LBPU, LBPWS, LBPWS10; LBPRZ 001b: zeros */
    out[6] = 0x02; /* thin provisioned */
    return 4;
}

static const struct {
    uint8_t page;
    uint32_t (*fill)(const struct sim *s, uint8_t *out);
} vpd[] = {
    {0x00, NULL},
    {0x80, page_serial},
    {0x83, page_device_id},
    {0x86, page_extended},
    {0x87, page_mode_policy},
    {0x8a, page_power},
    {0x90, page_protocol},
    {0xb0, page_limits},
    {0xb1, page_characteristics},
    {0xb2, page_provisioning},
};

#define VPD (sizeof vpd / sizeof *vpd)

int scsi_inquiry(struct scsi_call *k)
{
    uint32_t wanted = bytes_be16(k->cdb + 3);
    uint8_t page = k->cdb[2], out[PAGE_BYTES] = {0, page};
    if (!(k->cdb[1] & 1))
        return page ? scsi_bad_cdb(k, 2, 7) : standard(k, wanted);
    for (size_t i = 0; i < VPD; i++) {
        if (vpd[i].page != page)
            continue;
        uint32_t n = VPD;
        if (vpd[i].fill)
            n = vpd[i].fill(k->s, out);
        else
            for (size_t j = 0; j < VPD; j++)
                out[4 + j] = vpd[j].page;
        bytes_put_be16(out + 2, (uint16_t)n);
        return scsi_give(k, out, 4 + n, wanted);
    }
    return scsi_bad_cdb(k, 2, 7);
}

/* ---- Others ---- */

/* SELECT REPORT 1 asks for well-known logical units, of which there are none. */
int scsi_report_luns(struct scsi_call *k)
{
    uint8_t out[16] = {0}, select = k->cdb[2];
    uint32_t n = select == 1 ? 0 : 8;
    if (select > 2)
        return scsi_bad_cdb(k, 2, 7);
    bytes_put_be32(out, n);
    return scsi_give(k, out, 8 + n, bytes_be32(k->cdb + 6));
}

int scsi_read_capacity_10(struct scsi_call *k)
{
    uint8_t out[8];
    uint64_t last = k->t->blocks - 1;
    bytes_put_be32(out, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX);
    bytes_put_be32(out + 4, k->t->block_bytes);
    return scsi_give(k, out, sizeof out, sizeof out);
}

int scsi_read_capacity_16(struct scsi_call *k)
{
    uint8_t out[32] = {0};
    uint32_t bytes = k->t->block_bytes, unit = (uint32_t)k->s->model.unit_bytes;
    bytes_put_be64(out, k->t->blocks - 1);
    bytes_put_be32(out + 8, bytes);
    out[13] = unit > bytes ? (uint8_t)__builtin_ctz(unit / bytes) : 0;
    out[14] = 0xc0; /* LBPME, LBPRZ; block 0 is aligned */
    return scsi_give(k, out, sizeof out, bytes_be32(k->cdb + 10));
}

/* PERSISTENT RESERVE IN: no keys, no reservation; REPORT CAPABILITIES: none (the drive has no PERSISTENT RESERVE OUT). */
int scsi_reserve_in(struct scsi_call *k)
{
    uint8_t out[8] = {0};
    if ((k->cdb[1] & 0x1f) == 2)
        bytes_put_be16(out, sizeof out);
    return scsi_give(k, out, sizeof out, bytes_be16(k->cdb + 7));
}
