/* SPDX-License-Identifier: MIT */
#include "drive/health.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sated/sim.h>

#include "core/buffer.h"
#include "core/error.h"
#include "transport/command.h"
#include "transport/handle.h"

#define COLDEST (-100.0)
#define HOTTEST 200.0

struct page {
    struct page *next;
    size_t n;
    char name[32];
    uint8_t data[];
};

struct sated_health_pages {
    struct page *first, **last;
};

int sated_health_page(const struct sated_health_pages *pages, size_t i, const char **name, const void **data)
{
    const struct page *p = pages ? pages->first : NULL;
    while (p && i--)
        p = p->next;
    if (!p)
        return -ENOENT;
    *name = p->name;
    *data = p->data;
    return (int)p->n;
}

void sated_health_pages_free(struct sated_health_pages *pages)
{
    struct page *p = pages ? pages->first : NULL;
    while (p) {
        struct page *next = p->next;
        free(p);
        p = next;
    }
    free(pages);
}

/* Some answers have no page: they are registers, or that nothing is in the way. */
static void keep(struct health *h, const char *name)
{
    if (!h->pages || !h->n)
        return;
    struct page *p = malloc(sizeof *p + h->n);
    if (!p) {
        health_warn(h, "no memory to keep the page %s", name);
        return;
    }
    p->next = NULL;
    p->n = h->n;
    snprintf(p->name, sizeof p->name, "%s", name);
    memcpy(p->data, h->page, h->n);
    *h->pages->last = p;
    h->pages->last = &p->next;
}

static void add_line(char *text, size_t n, const char *format, va_list args)
{
    size_t used = strlen(text);
    if (used + 2 >= n)
        return;
    if (used)
        text[used++] = '\n';
    vsnprintf(text + used, n - used, format, args);
}

void health_warn(struct health *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(h->out->warnings, sizeof h->out->warnings, format, args);
    va_end(args);
}

void health_doubt(struct health *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(h->out->doubts, sizeof h->out->doubts, format, args);
    va_end(args);
}

void health_refused(struct health *h, const char *name)
{
    struct sated_detail detail;
    sated_detail_get(&detail);
    health_warn(h, "%s: %.300s", name, detail.text);
}

/* Whether it was the drive that said no, rather than the way to it. */
static bool is_refusal(int rc)
{
    return rc == SATED_SENSE || rc == SATED_ATA || rc == SATED_NVME || rc == SATED_UNSUPPORTED || rc == SATED_STATE;
}

static bool take(struct health *h, const char *name, bool optional, int rc)
{
    h->n = h->reply.data_len < HEALTH_PAGE ? h->reply.data_len : HEALTH_PAGE;
    if (rc == 0) {
        h->answers++;
        keep(h, name);
        return true;
    }
    h->n = 0;
    if (!h->first) {
        h->first = rc;
        sated_detail_get(&h->first_detail);
    }
    if (!optional || !is_refusal(rc))
        health_refused(h, name);
    h->over = h->over || rc == SATED_STALLED || rc == -ENODEV || rc == -ENXIO || rc == -EPERM || rc == -EACCES;
    return false;
}

bool health_ask_scsi(struct health *h, const char *name, bool optional, const struct sated_scsi_command *c)
{
    void *data = c->data_len ? h->page : NULL;
    return !h->over && take(h, name, optional, command_ask(h->d, c, data, &h->reply));
}

bool health_ask_ata(struct health *h, const char *name, bool optional, const struct sated_ata_command *c,
                    struct sated_ata_registers *registers)
{
    void *data = c->data_len ? h->page : NULL;
    return !h->over && take(h, name, optional, sated_ata_raw(h->d, c, data, registers, &h->reply));
}

bool health_ask_nvme(struct health *h, const char *name, bool optional, const struct sated_nvme_command *c)
{
    return !h->over && take(h, name, optional, sated_nvme_admin_raw(h->d, c, h->page, &h->reply));
}

bool health_bytes(struct health *h, const char *what, const uint64_t count[2], uint64_t unit, uint64_t *bytes)
{
    if (!count[0] && !count[1]) {
        health_doubt(h, "%s: 0 is told, which stands for none or not reported", what);
        return false;
    }
    if (!count[1] && !__builtin_mul_overflow(count[0], unit, bytes)) {
        h->unit = unit > h->unit ? unit : h->unit;
        return true;
    }
    health_doubt(h, "%s: has more than 2^64 bytes, which no drive can have written", what);
    return false;
}

bool health_count(struct health *h, const char *what, uint64_t value, unsigned bits)
{
    if (value != UINT64_MAX >> (64 - bits))
        return true;
    health_doubt(h, "%s: all bits are set, which is no count", what);
    return false;
}

bool health_celsius(struct health *h, const char *what, double celsius, double *out)
{
    if (celsius >= COLDEST && celsius <= HOTTEST) {
        *out = celsius;
        return true;
    }
    health_doubt(h, "%s: %.0f degrees Celsius are told, which no drive has", what, celsius);
    return false;
}

void health_conditions(struct health *h, uint32_t which, bool hold)
{
    TELL(h, conditions, h->out->conditions | (hold ? which : 0));
    TELL(h, conditions_told, h->out->conditions_told | which);
}

void health_progress(struct health *h, uint32_t done)
{
    TELL(h, operation_percent, done < 65536 ? done * 100 / 65536 : 100);
}

bool health_self_test(struct health *h, uint32_t code, struct health_results of)
{
    if (code == 0)
        TELL(h, self_test_result, SATED_HEALTH_TEST_PASSED);
    else if (code < 16 && of.aborted >> code & 1)
        TELL(h, self_test_result, SATED_HEALTH_TEST_ABORTED);
    else if (code < 16 && of.failed >> code & 1)
        TELL(h, self_test_result, SATED_HEALTH_TEST_FAILED);
    else
        health_doubt(h, "self-test: the last ended with result %Xh, which the standard reserves", (unsigned)code);
    return TOLD(h, self_test_result);
}

/* A scaled drive is told as the one that it stands for. */
static void doubt_scale(struct health *h)
{
    uint32_t scale = h->d->identity.scale;
    if (scale > 1)
        health_doubt(h, "scale=1/%u: bytes are those of the simulated drive times %u", scale, scale);
}

/* What a simulated drive counts itself, where it takes no commands by which it could be asked. */
static int health_simulated(struct health *h)
{
    struct sated_sim_counters c;
    int rc = sated_sim_get_counters(h->d, &c);
    if (rc)
        return rc;
    uint64_t unit = (uint64_t)c.unit_bytes * c.scale;
    TELL(h, host_bytes_written, c.host_write_units * unit);
    TELL(h, media_bytes_written, c.nand_write_units * unit);
    TELL(h, critical_warnings, 0);
    TELL(h, media_errors, 0);
    doubt_scale(h);
    health_doubt(h, "simulated: counted by the simulator from its state on, in whole mapping units of %u bytes",
                 c.unit_bytes);
    h->answers++;
    return 0;
}

/* The ratio of two counts, where neither is off by more than 1 % for being told in whole units. */
static void take_amplification(struct health *h)
{
    struct sated_health *o = h->out;
    if (!TOLD(h, host_bytes_written) || !TOLD(h, media_bytes_written) || !o->host_bytes_written)
        return;
    uint64_t least = o->host_bytes_written < o->media_bytes_written ? o->host_bytes_written : o->media_bytes_written;
    if (h->unit > least / 100)
        health_doubt(h,
                     "lifetime write amplification: %" PRIu64 " bytes are counted in units of up to %" PRIu64
                     ", too few for a ratio",
                     least, h->unit);
    else
        TELL(h, lifetime_write_amplification, (double)o->media_bytes_written / (double)o->host_bytes_written);
}

static void finish(struct health *h)
{
    struct sated_health *o = h->out;
    take_amplification(h);
    o->known |= KNOWN_BIT(health, warnings) | KNOWN_BIT(health, doubts) | KNOWN_BIT(health, n_sensors_c) |
                KNOWN_BIT(health, sensors_c);
}

/* Behind a bridge only asking tells what the drive speaks. */
static void health_by_protocol(struct health *h)
{
    const struct sated_identity *id = &h->d->identity;
    if (id->protocol == SATED_PROTOCOL_NVME)
        health_nvme(h);
    else if (id->protocol == SATED_PROTOCOL_ATA || !strcmp(id->transport, "usb")) {
        if (!health_ata(h) && id->protocol != SATED_PROTOCOL_ATA)
            health_scsi(h);
    } else {
        health_scsi(h);
    }
}

static int gather(struct health *h)
{
    int rc = 0;
    if (h->d->kind == HANDLE_FILE)
        rc = error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                       "%s: is a regular file, which has no health of its own; ask the drive beneath it", h->d->path);
    else if (h->d->kind == HANDLE_SIMULATED && !h->d->face)
        rc = health_simulated(h);
    else
        health_by_protocol(h);
    if (rc)
        return rc;
    if (!h->answers && h->first)
        return error_copy(&h->first_detail);
    if (h->d->kind == HANDLE_SIMULATED && h->d->face)
        doubt_scale(h);
    finish(h);
    return 0;
}

int sated_health_get(struct sated_drive *d, struct sated_health *out, struct sated_health_pages **pages)
{
    struct health h = {.d = d, .out = out};
    memset(out, 0, sizeof *out);
    if (pages)
        *pages = NULL;
    h.page = buffer_new(HEALTH_PAGE);
    h.pages = pages ? calloc(1, sizeof *h.pages) : NULL;
    if (!h.page || (pages && !h.pages)) {
        if (h.page)
            buffer_free(h.page, HEALTH_PAGE);
        free(h.pages);
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its health", d->path);
    }
    if (h.pages)
        h.pages->last = &h.pages->first;
    int rc = gather(&h);
    buffer_free(h.page, HEALTH_PAGE);
    if (rc)
        sated_health_pages_free(h.pages);
    else if (pages)
        *pages = h.pages;
    return rc;
}
