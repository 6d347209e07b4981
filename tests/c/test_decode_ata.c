/* SPDX-License-Identifier: MIT */
/* Random, cut and changed answers through every ATA decoder: an error with a text, or members that are not known; never a
 * read beyond the end (the buffers have exactly n bytes, for the address sanitizer) and never a value from bytes that are
 * not there. `test_decode_ata 1000000` runs as many inputs for each decoder. */
#include <stdio.h>
#include <stdlib.h>

#include <sated/sated.h>

#include "core/bytes.h"
#include "core/random.h"

#include "check.h"

#define PAGE 512

union any {
    uint64_t known; /* every decoded struct begins with it */
    struct sated_ata_registers registers;
    struct sated_ata_power_mode power_mode;
    struct sated_ata_smart_status smart_status;
    struct sated_ata_native_max native_max;
    struct sated_ata_sanitize_status sanitize_status;
    struct sated_ata_identify identify;
    struct sated_ata_smart smart;
    struct sated_ata_smart_thresholds thresholds;
    struct sated_ata_self_test_log self_test_log;
    struct sated_ata_error_log error_log;
    struct sated_ata_pending_defects pending;
    struct sated_ata_ncq_error ncq_error;
    struct sated_ata_internal_status internal;
    struct sated_ata_statistics statistics;
    struct sated_ata_log_pages log_pages;
    struct sated_ata_log_directory log_directory;
    struct sated_ata_log_capabilities capabilities;
    struct sated_ata_log_security security;
    struct sated_ata_log_sata sata;
    struct sated_ata_dco dco;
    struct sated_ata_attribute_raw raw;
};

static union any decoded, again;

static int registers(const void *data, size_t n, void *out)
{
    return sated_ata_decode_registers(data, n, out);
}

/* What a command's registers say, from the sense data that has them. */
#define RESULT(name) \
    static int name(const void *data, size_t n, void *out) \
    { \
        struct sated_ata_registers r; \
        int rc = sated_ata_decode_registers(data, n, &r); \
        return rc ? rc : sated_ata_decode_##name(&r, out); \
    }
RESULT(power_mode)
RESULT(smart_status)
RESULT(native_max)
RESULT(sanitize_status)

static int identify(const void *data, size_t n, void *out)
{
    return sated_ata_decode_identify(data, n, out);
}

static int smart(const void *data, size_t n, void *out)
{
    return sated_ata_decode_smart(data, n, out);
}

static int thresholds(const void *data, size_t n, void *out)
{
    return sated_ata_decode_smart_thresholds(data, n, out);
}

static int self_tests(const void *data, size_t n, void *out)
{
    return sated_ata_decode_self_test_log(data, n, false, out);
}

static int extended_self_tests(const void *data, size_t n, void *out)
{
    return sated_ata_decode_self_test_log(data, n, true, out);
}

static int errors(const void *data, size_t n, void *out)
{
    return sated_ata_decode_error_log(data, n, false, out);
}

static int extended_errors(const void *data, size_t n, void *out)
{
    return sated_ata_decode_error_log(data, n, true, out);
}

static int pending(const void *data, size_t n, void *out)
{
    return sated_ata_decode_pending_defects(data, n, out);
}

static int ncq_error(const void *data, size_t n, void *out)
{
    return sated_ata_decode_ncq_error(data, n, out);
}

static int internal(const void *data, size_t n, void *out)
{
    return sated_ata_decode_internal_status(data, n, out);
}

static int statistics(const void *data, size_t n, void *out)
{
    return sated_ata_decode_statistics(data, n, out);
}

static int log_pages(const void *data, size_t n, void *out)
{
    return sated_ata_decode_log_pages(data, n, out);
}

static int log_directory(const void *data, size_t n, void *out)
{
    return sated_ata_decode_log_directory(data, n, out);
}

static int capabilities(const void *data, size_t n, void *out)
{
    return sated_ata_decode_log_capabilities(data, n, out);
}

static int security(const void *data, size_t n, void *out)
{
    return sated_ata_decode_log_security(data, n, out);
}

static int sata(const void *data, size_t n, void *out)
{
    return sated_ata_decode_log_sata(data, n, out);
}

static int dco(const void *data, size_t n, void *out)
{
    return sated_ata_decode_dco(data, n, out);
}

static int raw(const void *data, size_t n, void *out)
{
    return sated_ata_decode_attribute_raw(data, n < 6 ? n : 6, (uint32_t)n % 7, out);
}

static const struct decoder {
    const char *name;
    int (*decode)(const void *, size_t, void *);
    size_t size;      /* of the struct */
    uint8_t head[14]; /* of an answer that the decoder takes, n_head bytes of it */
    uint8_t n_head;
    uint8_t last; /* of a page: the byte before its checksum, unless 0 */
} decoders[] = {
#define D(name, of, type, last, ...) \
    { \
#name ", " of, name, sizeof(struct sated_ata_##type), {__VA_ARGS__ }, sizeof((uint8_t[]){__VA_ARGS__}), last \
    }
#define DESCRIPTOR 0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 1
#define FIXED 0x70, 0, 1, 0, 0x50, 0x40, 0, 10, 0x80, 0xff, 0xff, 0xff, 0, 0x1d
#define LEGACY 0x70, 0, 0x0b, 0, 0, 0, 0, 10, 4, 0x41, 0xe0
    D(registers, "descriptor", registers, 0, DESCRIPTOR),
    D(registers, "fixed", registers, 0, FIXED),
    D(registers, "legacy", registers, 0, LEGACY),
    D(power_mode, "descriptor", power_mode, 0, DESCRIPTOR),
    D(smart_status, "descriptor", smart_status, 0, DESCRIPTOR),
    D(native_max, "descriptor", native_max, 0, DESCRIPTOR),
    D(sanitize_status, "descriptor", sanitize_status, 0, DESCRIPTOR),
    D(sanitize_status, "fixed", sanitize_status, 0, FIXED),
    D(identify, "w0", identify, 0xa5, 0x40, 0, 0xff, 0x3f, 0, 0, 0x10, 0),
    D(smart, "data", smart, 0, 1, 0),
    D(thresholds, "page", smart_thresholds, 0, 1, 0),
    D(self_tests, "06h", self_test_log, 0, 1, 0),
    D(extended_self_tests, "07h", self_test_log, 0, 1, 0, 7, 0),
    D(errors, "01h", error_log, 0, 1, 3),
    D(extended_errors, "03h", error_log, 0, 1, 0, 2, 0),
    D(pending, "0Ch", pending_defects, 0, 20, 0, 0, 0),
    D(ncq_error, "10h", ncq_error, 0, 0x1f, 0),
    D(internal, "24h", internal_status, 0, 0x24, 0),
    D(statistics, "page 05h", statistics, 0, 1, 0, 5),
    D(log_pages, "page 00h", log_pages, 0, 1, 0, 0),
    D(log_directory, "00h", log_directory, 0, 1, 0),
    D(capabilities, "page 03h", log_capabilities, 0, 1, 0, 3, 0, 0, 0, 0, 0x80),
    D(security, "page 06h", log_security, 0, 1, 0, 6, 0, 0, 0, 0, 0x80),
    D(sata, "page 08h", log_sata, 0, 1, 0, 8, 0, 0, 0, 0, 0x80),
    D(dco, "data", dco, 0xa5, 2, 0),
    D(raw, "six bytes", attribute_raw, 0, 0),
};

/* A page of random bytes, mostly with a head that is taken; some bytes changed; then cut to n. */
static size_t make(struct random *r, const struct decoder *d, uint8_t *page)
{
    uint64_t shape = random_next(r);
    size_t n = shape & 3 ? (size_t)random_below(r, PAGE + 1) : PAGE;
    for (size_t i = 0; i < PAGE; i += 8)
        bytes_put_le64(page + i, shape & 16 ? random_next(r) & random_next(r) & random_next(r) : random_next(r));
    if (shape & 0xc) {
        memcpy(page, d->head, d->n_head);
        if (d->last) {
            uint8_t sum = 0;
            page[PAGE - 2] = d->last;
            page[PAGE - 1] = 0;
            for (size_t i = 0; i < PAGE; i++)
                sum = (uint8_t)(sum + page[i]);
            page[PAGE - 1] = (uint8_t)-sum;
        }
    }
    for (int flips = (int)(shape >> 8 & 3); flips && shape & 32; flips--)
        page[random_below(r, PAGE)] ^= (uint8_t)(1u << random_below(r, 8));
    return n;
}

/* What is decoded from n bytes does not change with what stands behind them, and n bytes more only add to it. */
static void run(const struct decoder *d, uint64_t count)
{
    struct random r;
    uint64_t refused = 0, taken = 0, texts = 0, unstable = 0, wild = 0;
    random_seed(&r, 20260, (uint64_t)(d - decoders));
    for (uint64_t i = 0; i < count; i++) {
        uint8_t page[PAGE], *exact;
        size_t n = make(&r, d, page);
        int rc, rc2;
        exact = malloc(n ? n : 1);
        if (!exact)
            abort();
        memcpy(exact, page, n);
        memset(&decoded, 0x5a, sizeof decoded);
        memset(&again, 0xa5, sizeof again);
        rc = d->decode(exact, n, &decoded);
        free(exact);
        rc2 = d->decode(page, n, &again);
        if (rc < 0) {
            struct sated_detail detail;
            sated_detail_get(&detail);
            refused++;
            texts += rc == SATED_PARSE && detail.code == rc && strlen(detail.text) > 20;
            unstable += rc2 != rc;
            continue;
        }
        taken++;
        unstable += rc2 != 0 || memcmp(&decoded, &again, d->size) != 0;
        if (d->decode == identify) /* counts stay within their arrays */
            wild += decoded.identify.n_features > SATED_ATA_FEATURES;
        if (d->decode == smart)
            wild += decoded.smart.n_attributes > SATED_ATA_ATTRIBUTES;
        if (d->decode == self_tests || d->decode == extended_self_tests)
            wild += decoded.self_test_log.n_entries > SATED_ATA_SELF_TESTS;
        if (d->decode == errors || d->decode == extended_errors)
            wild += decoded.error_log.n_entries > SATED_ATA_ERRORS;
        if (d->decode == pending)
            wild += decoded.pending.n_defects > SATED_ATA_PENDING_DEFECTS || 16 * decoded.pending.n_defects > n;
        if (d->decode == statistics)
            wild += decoded.statistics.n_statistics > SATED_ATA_STATISTICS;
        if (d->decode == log_pages)
            wild += decoded.log_pages.n_pages > sizeof decoded.log_pages.pages || decoded.log_pages.n_pages + 9 > n;
    }
    printf("%s: %llu taken, %llu refused\n", d->name, (unsigned long long)taken, (unsigned long long)refused);
    CHECK_EQ(texts, refused);
    CHECK_EQ(unstable, 0u);
    CHECK_EQ(wild, 0u);
    CHECK(taken > count / 8);
}

/* Nothing is known that stands beyond n: a page of ones, cut everywhere, never says more than the longer cut. */
static void grows(const struct decoder *d)
{
    uint8_t page[PAGE];
    uint64_t before = 0, lost = 0;
    memset(page, 0xff, sizeof page);
    memcpy(page, d->head, d->n_head);
    if (page[0] == 0x72)
        page[21] = 0x50; /* STATUS: without BSY the other registers hold something */
    if (d->decode == identify) {
        memset(page, 0, sizeof page);
        for (size_t i = 0; i < PAGE; i += 2)
            bytes_put_le16(page + i, 0x4501); /* valid where a word has marks */
    }
    for (size_t n = 0; n <= PAGE; n++) {
        memset(&decoded, 0, sizeof decoded);
        if (d->decode(page, n, &decoded) < 0)
            continue;
        lost += (before & ~decoded.known) != 0;
        before = decoded.known;
    }
    CHECK_EQ(lost, 0u);
    CHECK(before != 0);
}

/* IDENTIFY words decide on their own: of a cut answer no group tells what the cut words would have told. */
static void cut_identify(void)
{
    uint8_t page[PAGE] = {0};
    for (size_t i = 0; i < PAGE; i += 2)
        bytes_put_le16(page + i, 0x4501);
    for (size_t n = 2; n <= 2 * 128; n++) {
        const struct sated_ata_identify *id = &decoded.identify;
        CHECK_EQ(sated_ata_decode_identify(page, n, &decoded.identify), 0);
        CHECK_EQ(id->security.known, 0u);
        CHECK_EQ(id->trim.known & 6, 0u); /* w169, w105 */
        if (n < 2 * 60)
            CHECK_EQ(id->sanitize.known, 0u);
        if (n < 2 * 119)
            CHECK_EQ(id->capacity.known & 6, 0u); /* w117-118 */
        if (n < 2 * 80)
            CHECK_EQ(id->areas.known & 0xe, 0u); /* w82 to w86 */
    }
}

/* Answers that contradict themselves, one by one. */
static void contradictions(void)
{
    struct sated_ata_registers r;
    struct sated_ata_native_max max;
    struct sated_ata_log_pages pages;
    uint8_t list[16] = {1, 0, 0, 0, 0, 0, 0, 0, 248, 1, 2, 3};
    static const uint8_t lies[] = {0x72, 1, 0, 0x1d, 0, 0, 0, 200, 9, 12, 1, 0, 0, 0, 0, 0xff};
    static const uint8_t short_one[] = {0x72, 1, 0, 0x1d, 0,    0, 0,    14, 9, 2,    1,
                                        0,    0, 0, 0,    0xff, 0, 0xff, 0,  1, 0xe0, 0x50};
    /* SAT-4 12.2.6, all of it zeros: DRDY is clear, so that neither standby (0) nor a capacity of one sector is told. */
    static const uint8_t zeros[22] = {0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 1};
    struct sated_ata_power_mode mode;
    CHECK_EQ(sated_ata_decode_registers(zeros, sizeof zeros, &r), 0);
    CHECK(sated_ata_decode_power_mode(&r, &mode) == 0 && mode.known == 0);
    CHECK(sated_ata_decode_native_max(&r, &max) == 0 && max.known == 0);
    CHECK_EQ(sated_ata_decode_registers(lies, sizeof lies, &r), 0);
    CHECK_EQ(r.source, SATED_ATA_REGISTERS_NONE);
    CHECK_EQ(sated_ata_decode_native_max(&r, &max), 0);
    CHECK_EQ(max.known, 0u);
    CHECK_EQ(sated_ata_decode_registers(short_one, sizeof short_one, &r), 0);
    CHECK_EQ(r.source, SATED_ATA_REGISTERS_NONE);
    CHECK_EQ(sated_ata_decode_log_pages(list, sizeof list, &pages), 0);
    CHECK_EQ(pages.n_pages, 0u); /* 248 pages were announced, 7 are there */
    CHECK_EQ(pages.known & 4, 0u);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        run(decoders + i, count);
        if (decoders[i].decode != raw) /* takes six bytes, no more and no fewer */
            grows(decoders + i);
    }
    cut_identify();
    contradictions();
    return check_done();
}
