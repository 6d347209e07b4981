/* SPDX-License-Identifier: MIT */
/* LOG SENSE and LOG SELECT of the SAS drive (SPC-5, SBC-4 6.4, SPL-4). What is counted comes from the flash, times the
 * scale. */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"

#define PC_CUMULATIVE 1
#define BINARY 0x03 /* FORMAT AND LINKING: a list in binary */
#define ASCII 0x01
#define COUNTER 0x00
#define TEMPERATURE_MAX_C 70

/* An answer that is being put together. */
struct log {
    const struct sim *s;
    uint16_t from; /* PARAMETER POINTER */
    uint32_t n;
    uint8_t bytes[1024];
    uint8_t unwanted[64]; /* a parameter before the first one wanted */
};

/* Room for a parameter of n bytes, zeroed. */
static uint8_t *parameter(struct log *l, uint16_t code, uint8_t control, uint8_t n)
{
    if (code < l->from)
        return memset(l->unwanted, 0, sizeof l->unwanted);
    uint8_t *at = l->bytes + l->n;
    bytes_put_be16(at, code);
    at[2] = control;
    at[3] = n;
    l->n += 4u + n;
    return memset(at + 4, 0, n);
}

static void counter(struct log *l, uint16_t code, uint64_t value)
{
    bytes_put_be64(parameter(l, code, COUNTER, 8), value);
}

static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

static void errors(struct log *l, uint64_t bytes, uint64_t uncorrected)
{
    for (uint16_t code = 0; code < 5; code++)
        counter(l, code, 0);
    counter(l, 5, bytes);
    counter(l, 6, uncorrected);
}

static void page_writes(struct log *l)
{
    const struct scsi_state *t = &l->s->target.scsi;
    errors(l, since(target_life_written_bytes(l->s), t->since_written), t->uncorrected[0]);
}

/* What was read to be verified counts there. */
static uint64_t read_bytes(const struct sim *s)
{
    return since(target_life_read_bytes(s), s->target.scsi.verified_bytes * s->model.scale);
}

static void page_reads(struct log *l)
{
    const struct scsi_state *t = &l->s->target.scsi;
    errors(l, since(read_bytes(l->s), t->since_read), t->uncorrected[1]);
}

static void page_verifies(struct log *l)
{
    const struct scsi_state *t = &l->s->target.scsi;
    errors(l, since(t->verified_bytes, t->since_verified) * l->s->model.scale, t->uncorrected[2]);
}

static void page_temperature(struct log *l)
{
    parameter(l, 0, BINARY, 2)[1] = (uint8_t)target_temperature_c(l->s);
    parameter(l, 1, BINARY, 2)[1] = TEMPERATURE_MAX_C;
}

static void page_start_stop(struct log *l)
{
    memcpy(parameter(l, 1, ASCII, 6), "201301", 6); /* year and week of manufacture */
    memcpy(parameter(l, 2, ASCII, 6), "      ", 6); /* accounting date: never set */
    bytes_put_be32(parameter(l, 3, BINARY, 4), 50000);
    bytes_put_be32(parameter(l, 4, BINARY, 4), (uint32_t)(l->s->target.power_cycles + l->s->target.scsi.starts));
}

static void put_self_test(uint8_t *at, const struct scsi_self_test *test)
{
    at[0] = (uint8_t)(test->code << 5 | test->result);
    at[1] = test->number;
    bytes_put_be16(at + 2, test->hours);
    memset(at + 4, 0xff, 8); /* of no one LBA */
    at[12] = test->key;
    at[13] = test->asc;
    at[14] = test->ascq;
}

/* Newest first, the one that goes on before all. */
static void page_self_tests(struct log *l)
{
    const struct scsi_state *t = &l->s->target.scsi;
    const struct operation *o = &l->s->target.operation;
    uint16_t code = 1;
    if (o->kind == OPERATION_SELF_TEST)
        put_self_test(parameter(l, code++, BINARY, 16),
                      &(struct scsi_self_test){.code = (uint8_t)o->argument[0], .result = 15});
    for (uint8_t i = 0; code <= SCSI_SELF_TESTS; code++, i++) {
        uint8_t *at = parameter(l, code, BINARY, 16);
        if (i < t->self_tests)
            put_self_test(at, &t->self_test[i]);
    }
}

static void page_endurance(struct log *l)
{
    parameter(l, 1, BINARY, 4)[3] = (uint8_t)target_used_percent(l->s);
}

/* It does not scan; the page tells how long it has been on. */
static void page_background_scan(struct log *l)
{
    uint64_t minutes = (uint64_t)l->s->now * l->s->model.scale / 60000000000ULL;
    bytes_put_be32(parameter(l, 0, BINARY, 12), minutes < UINT32_MAX ? (uint32_t)minutes : UINT32_MAX);
}

/* Of each port its one phy, without errors. */
static void page_ports(struct log *l)
{
    for (uint32_t port = 1; port <= SCSI_PORTS; port++) {
        uint8_t *at = parameter(l, (uint16_t)port, BINARY, 4 + 52);
        at[0] = 6;
        at[3] = 1;
        at += 4;
        at[1] = (uint8_t)(port - 1);
        at[3] = 48;
        if (port == 1) {
            at[4] = 0x10;
            at[5] = 0x0a;
            at[6] = 0x08;
            bytes_put_be64(at + 16, scsi_address(l->s, 0) ^ 0x800000000);
        }
        bytes_put_be64(at + 8, scsi_address(l->s, port));
    }
}

uint16_t scsi_prediction(const struct sim *s)
{
    if (scsi_mode_predicts(s))
        return CODE_FALSE_PREDICTION;
    if (target_used_percent(s) >= 100)
        return 0x5d73; /* MEDIA IMPENDING FAILURE ENDURANCE LIMIT MET */
    return s->ftl.sick & SICK_READ_ONLY || target_spare_percent(s) < SCSI_SPARE_PERCENT
               ? 0x5d14 /* HARDWARE IMPENDING FAILURE TOO MANY BLOCK REASSIGNS */
               : 0;
}

static void page_exceptions(struct log *l)
{
    uint8_t *at = parameter(l, 0, BINARY, 4);
    bytes_put_be16(at, scsi_prediction(l->s));
    at[2] = (uint8_t)target_temperature_c(l->s);
    at[3] = TEMPERATURE_MAX_C;
}

static const struct page {
    uint8_t page;
    bool counts; /* which has thresholds and defaults besides, where a drive has them: this one has not */
    void (*fill)(struct log *l);
} pages[] = {
    {0x00, false, NULL},
    {0x02, true, page_writes},
    {0x03, true, page_reads},
    {0x05, true, page_verifies},
    {0x0d, false, page_temperature},
    {0x0e, false, page_start_stop},
    {0x10, false, page_self_tests},
    {0x11, false, page_endurance},
    {0x15, false, page_background_scan},
    {0x18, false, page_ports},
    {0x2f, false, page_exceptions},
};

#define PAGES (sizeof pages / sizeof *pages)

static const struct page *find(uint8_t code)
{
    for (size_t i = 0; i < PAGES; i++)
        if (pages[i].page == code)
            return &pages[i];
    return NULL;
}

/* Supported Log Pages, and with subpages (00h/FFh), among which it is itself. */
static void list_pages(struct log *l, bool subpages)
{
    for (size_t i = 0; i < PAGES; i++) {
        l->bytes[l->n++] = pages[i].page;
        if (subpages)
            l->bytes[l->n++] = 0;
        if (subpages && !pages[i].page) {
            l->bytes[l->n++] = 0;
            l->bytes[l->n++] = 0xff;
        }
    }
}

int scsi_log_sense(struct scsi_call *k)
{
    uint8_t code = k->cdb[2] & 0x3f, subpage = k->cdb[3];
    struct log l = {.s = k->s, .from = bytes_be16(k->cdb + 5), .n = 4};
    const struct page *p = find(code);
    if (!p)
        return scsi_bad_cdb(k, 2, 5);
    if (subpage && (code || subpage != 0xff))
        return scsi_bad_cdb(k, 3, 7);
    if (p->counts && k->cdb[2] >> 6 != PC_CUMULATIVE)
        return scsi_bad_cdb(k, 2, 7);
    if (p->fill)
        p->fill(&l);
    else
        list_pages(&l, subpage);
    /* SPC-5: a pointer beyond the last parameter, or into a page that has none. */
    if (l.from && (!p->fill || l.n == 4))
        return scsi_bad_cdb(k, 5, 7);
    l.bytes[0] = (uint8_t)(code | (subpage ? 0x40 : 0));
    l.bytes[1] = subpage;
    bytes_put_be16(l.bytes + 2, (uint16_t)(l.n - 4));
    return scsi_give(k, l.bytes, l.n, bytes_be16(k->cdb + 7));
}

/* Only setting back is possible: what the counters count cannot be given. Page 00h stands for all of them. */
int scsi_log_select(struct scsi_call *k)
{
    struct scsi_state *t = k->t;
    uint8_t code = k->cdb[2] & 0x3f;
    if (!find(code))
        return scsi_bad_cdb(k, 2, 5);
    if (k->cdb[3])
        return scsi_bad_cdb(k, 3, 7);
    if (bytes_be16(k->cdb + 7))
        return scsi_bad_cdb(k, 7, 7);
    if (!(k->cdb[1] & 2)) /* PCR */
        return 0;
    if (!code || code == 0x02) {
        t->since_written = target_life_written_bytes(k->s);
        t->uncorrected[0] = 0;
    }
    if (!code || code == 0x03) {
        t->since_read = read_bytes(k->s);
        t->uncorrected[1] = 0;
    }
    if (!code || code == 0x05) {
        t->since_verified = t->verified_bytes;
        t->uncorrected[2] = 0;
    }
    target_changed(k->s);
    return 0;
}
