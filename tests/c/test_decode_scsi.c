/* SPDX-License-Identifier: MIT */
/* Random, cut and altered answers for every SCSI decoder: a typed error or "unknown", nothing read beyond the end, and
 * nothing known that the bytes do not say.
 *
 * Each answer stands in a block of exactly its own length, so that the address sanitizer sees a byte too many. Nothing
 * was invented if more bytes never take back what fewer told, and if what stands behind an answer's own end changes
 * nothing. 20,000 answers for each decoder; `test_decode_scsi 1000000` makes a million. */
#include <sated/sated.h>

#include <stdlib.h>

#include "check.h"
#include "core/random.h"
#include "protocol/known_ata.h"
#include "protocol/known_scsi.h"

static struct random rng;

/* One decoder and one good answer of its own, which is cut and altered. */
struct decoder {
    const char *name;
    int (*decode)(const void *data, size_t n, void *out);
    size_t size; /* of the struct */
    const char *good;
};

#define WRAP(name, type) \
    static int decode_##name(const void *data, size_t n, void *out) \
    { \
        return sated_scsi_decode_##name(data, n, (struct sated_scsi_##type *)out); \
    }
WRAP(sense, sense)
WRAP(inquiry, inquiry)
WRAP(vpd_supported, vpd_supported)
WRAP(vpd_serial, vpd_serial)
WRAP(vpd_device_id, vpd_device_id)
WRAP(vpd_extended, vpd_extended)
WRAP(vpd_mode_policy, vpd_mode_policy)
WRAP(vpd_ports, vpd_ports)
WRAP(vpd_ata, vpd_ata)
WRAP(vpd_power, vpd_power)
WRAP(vpd_limits, vpd_limits)
WRAP(vpd_characteristics, vpd_characteristics)
WRAP(vpd_provisioning, vpd_provisioning)
WRAP(vpd_zoned, vpd_zoned)
WRAP(vpd_limits_extension, vpd_limits_extension)
WRAP(capacity_10, capacity)
WRAP(capacity_16, capacity)
WRAP(mode_caching, mode_caching)
WRAP(mode_control, mode_control)
WRAP(mode_power, mode_power)
WRAP(log, log)
WRAP(log_supported, log_supported)
WRAP(log_errors, log_errors)
WRAP(log_temperature, log_temperature)
WRAP(log_start_stop, log_start_stop)
WRAP(log_self_tests, log_self_tests)
WRAP(log_endurance, log_endurance)
WRAP(log_background_scan, log_background_scan)
WRAP(log_phys, log_phys)
WRAP(log_exceptions, log_exceptions)
WRAP(opcodes, opcodes)
WRAP(one_opcode, one_opcode)
WRAP(luns, luns)

static int decode_mode_6(const void *data, size_t n, void *out)
{
    return sated_scsi_decode_mode(data, n, false, out);
}

static int decode_mode_10(const void *data, size_t n, void *out)
{
    return sated_scsi_decode_mode(data, n, true, out);
}

static int decode_results_log(const void *data, size_t n, void *out)
{
    return sated_ata_decode_results_log(data, n, 2, out);
}

static int decode_registers(const void *data, size_t n, void *out)
{
    return sated_ata_decode_registers(data, n, out);
}

#define D(name, type, good) \
    { \
#name, decode_##name, sizeof(struct sated_scsi_##type), good \
    }
static const struct decoder decoders[] = {
    D(sense, sense,
      "72010302800000 4c000a800011223344556677bb010a000033445566 77bbccff0206000080010100030200450a06020102003201"
      "050200200b1a010000000001010203040506070801020304550607080 2001234"),
    {"sense, fixed", decode_sense, sizeof(struct sated_scsi_sense), "f00003000012340a00000000110077800198"},
    {"sense, forwarded", decode_sense, sizeof(struct sated_scsi_sense),
     "720618070000001c0c0a010272061807000000 00000a8000112233445566778803020099"},
    {"registers", decode_registers, sizeof(struct sated_ata_registers), "7201001d0000000e090c01000000d1af01be00c04050"},
    {"registers, fixed", decode_registers, sizeof(struct sated_ata_registers), "700001005040ff0a00004fc2001d00000000"},
    {"registers, legacy", decode_registers, sizeof(struct sated_ata_registers), "70000b000000000a0441e0000000000080ff"},
    D(inquiry, inquiry,
      "000007025b00100a4c696e757820202073637369 5f6465627567202020202020303139313230323130353230"
      "000000000000000000000000000000c005c006002100000000000000000000000000000000000000000000000000000000000000"),
    D(vpd_supported, vpd_supported, "00000008008083878 9b0b1b2"),
    D(vpd_serial, vpd_serial, "0080000853313233 34353637"),
    D(vpd_device_id, vpd_device_id,
      "00830048010300085000c5003011cb2b619300085000c5003011cb29619400040000000161a300085000c5003011cb28"
      "032800186e61612e35303030433530303330313143423238 00000000"),
    D(vpd_extended, vpd_extended,
      "0086003c5d3f0f31b205007df0fcc71234567800000000000000000000000000000000000000000000000000000000000000"
      "0000000000000000000000000000"),
    D(vpd_mode_policy, vpd_mode_policy, "0087000c3fff0000080080001801 0300"),
    D(vpd_ports, vpd_ports,
      "0088004800000001000000000000000c619300085000c5003011cb29000000020000001806000000500507605ee29340"
      "0000000000000000000000000000000c619300085000c5003011cb2a"),
    D(vpd_power, vpd_power, "008a000e0307138827101f40006403e80000"),
    D(vpd_zoned, vpd_zoned, "00b6001c110000000000008000000010000000400000000100000000000800 00"),
    D(vpd_limits_extension, vpd_limits_extension, "00b7001800010010004000000100000000001000000000200001 0000"),
    D(mode_power, mode_power, "1a26410d000000140000232800000 4b0000017700000465000000000000000000000000000000064"),
    D(log_phys, log_phys,
      "180000700001036c06000702000000302a1b020c5000c5003011cb29500507605ee2934007000000000000000000000100000002"
      "00000003000000040000000000010030000000 0c5000c5003011cb2a000000000000000000000000000000000000000000000000"
      "000000000000000000000000"),
    {"results log", decode_results_log, sizeof(struct sated_ata_registers),
     "1600002400 00030e090c0100000000ff00ff0001e0500001030e090c00040005000600070008 4a51"},
    D(vpd_ata, vpd_ata,
      "0089023800000000 6c696e757820202053415420736373695f646562756720203132333434000000 0100000000000000"
      "0100000000000000ec000000 5a0cff3f37c8100000000000"),
    D(vpd_limits, vpd_limits,
      "00b0003c01000000003fffff00000000000000000020000000 0000ff00000008800000040000000000 3fffff"
      "0000000000000000000000000000000000000000"),
    D(vpd_characteristics, vpd_characteristics, "00b1000c000100020000000000000000"),
    D(vpd_provisioning, vpd_provisioning, "00b20010000100000103000851223344 55667788"),
    D(capacity_10, capacity, "0001ffff00000200"),
    D(capacity_16, capacity, "000000000001ffff000002000103c00000000000000000000000000000000000"),
    {"mode 6", decode_mode_6, sizeof(struct sated_scsi_mode), "0f00100800020000000002000a020400"},
    {"mode 10", decode_mode_10, sizeof(struct sated_scsi_mode),
     "0076001000000008000200000000020001 0ac00bf00000000500ffff020e8080000a000000000000000000000316"
     "000000000000000000200200000000000000400000000812 1400ffff0000ffffffff80140000000000000a0a0600008000"
     "0000024b190606 0007d000001c0a0800000000000000000000"},
    D(mode_caching, mode_caching, "08121400ffff0000ffffffff8014000000000000"),
    D(mode_control, mode_control, "0a0a06000080000000 00024b"),
    D(log, log, "300000100001830 2aabb0002030401020304"),
    D(log_supported, log_supported, "00000010000203050 60d0e0f1015181a2f37383e"),
    D(log_errors, log_errors,
      "0200003400010204000000000002020400000000000302040000000000040204000000000005020800001221"
      "1c692200000602040000 0000"),
    D(log_temperature, log_temperature, "0d00000c00000302001e000103020046"),
    D(log_start_stop, log_start_stop,
      "0e00002a000103063230323331370003030400 00c3500004030400000011000503040004 93e0000603040000 0000"),
    D(log_self_tests, log_self_tests,
      "1000002800010310470312340000000000001000031100000002031020001000ffffffffffffffff00000000"),
    D(log_endurance, log_endurance, "11000008000103040000 0014"),
    D(log_background_scan, log_background_scan,
      "150000280000030c0001234500010007800000000001031400012340531100000000000000000000 00abcdef"),
    D(log_exceptions, log_exceptions, "2f0000080000030400001e46"),
    D(opcodes, opcodes,
      "000000300400000000020006000a000700000e1000001c204800000200 03000a000a0000000000000000003c2800000000 00000a"),
    D(one_opcode, one_opcode, "0083000604ff00000307000a000000000e1000001c20"),
    D(luns, luns, "000000100000000000000000000000000001000000000000"),
};
#define DECODERS (sizeof decoders / sizeof *decoders)

static size_t from_hex(const char *text, uint8_t *to)
{
    size_t n = 0;
    for (int high = -1; *text; text++) {
        int digit = *text >= '0' && *text <= '9' ? *text - '0' : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10 : -1;
        if (digit < 0)
            continue;
        if (high < 0) {
            high = digit;
        } else {
            to[n++] = (uint8_t)(high << 4 | digit);
            high = -1;
        }
    }
    return n;
}

static size_t good_answer(const struct decoder *d, uint8_t *to)
{
    size_t n = from_hex(d->good, to);
    /* The IDENTIFY data within is all zero after its first words. */
    if (d->decode == decode_vpd_ata) {
        memset(to + n, 0, 572 - n);
        n = 572;
    }
    return n;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)random_below(&rng, n);
}

/* Decodes from a block of exactly n bytes. */
static int decode_exactly(const struct decoder *d, const uint8_t *data, size_t n, void *out)
{
    uint8_t *copy = malloc(n ? n : 1);
    int rc;
    memcpy(copy, data, n);
    memset(out, 0xa5, d->size);
    rc = d->decode(n ? copy : copy + 1, n, out);
    free(copy);
    return rc;
}

/* Alters a good answer, or makes one of nothing. Return: its length. */
static size_t make(const struct decoder *d, uint8_t *to, size_t cap)
{
    size_t n;
    memset(to, 0, cap);
    n = good_answer(d, to);
    switch (below(8)) {
    case 0: /* noise, of which the first bytes may be right */
        n = below(300);
        for (size_t i = below(5); i < n; i++)
            to[i] = (uint8_t)below(256);
        break;
    case 1: /* cut */ n = below((uint32_t)n + 1); break;
    case 2: /* its length fields lie */ to[2 + below(6)] = (uint8_t)(below(2) ? 0xff : below(256)); break;
    case 3: /* stale bytes behind */
        for (size_t more = below(64); more--;)
            to[n++] = (uint8_t)below(256);
        break;
    default:
        for (unsigned flips = 1 + below(6); flips--;)
            to[below((uint32_t)n)] ^= (uint8_t)(1u << below(8));
        if (!below(3))
            n = below((uint32_t)n + 1);
        break;
    }
    return n;
}

/* Padding between members is not compared: each decoder clears its struct as a whole, so there is nothing in it. */
static void try_one(const struct decoder *d, void *out, void *again)
{
    uint8_t data[1024], longer[1024];
    size_t n = make(d, data, sizeof data);
    int rc = decode_exactly(d, data, n, out);
    uint64_t known, other;
    struct sated_detail detail;
    if (rc) {
        sated_detail_get(&detail);
        CHECK(rc == SATED_PARSE && detail.code == rc && detail.text[0]);
    }
    memcpy(&known, out, sizeof known);
    if (rc)
        CHECK_EQ(known, (uint64_t)0);
    CHECK((known & 1) == 0);
    /* The same bytes give the same. */
    CHECK(decode_exactly(d, data, n, again) == rc && !memcmp(out, again, d->size));
    /* More bytes may only add: a member that was known of the shorter answer is known of the longer one. */
    if (rc || n + 32 > sizeof longer)
        return;
    memcpy(longer, data, n);
    for (size_t i = 0; i < 32; i++)
        longer[n + i] = (uint8_t)below(256);
    rc = decode_exactly(d, longer, n + 32, again);
    CHECK_EQ(rc, 0);
    memcpy(&other, again, sizeof other);
    check_note((known & other) == known, __FILE__, __LINE__, d->name, (double)known, (double)other);
}

/* Cut after each of its bytes, a good answer tells ever more; and what stands behind its own end changes nothing. */
static void test_ends(const struct decoder *d, void *out, void *again)
{
    uint8_t good[1024];
    size_t n = good_answer(d, good);
    uint64_t last = 0, known;
    for (size_t cut = 0; cut <= n; cut++) {
        int rc = decode_exactly(d, good, cut, out);
        memcpy(&known, out, sizeof known);
        check_note((known & last) == last, __FILE__, __LINE__, d->name, (double)cut, (double)last);
        last = known;
        if (cut == n)
            CHECK(!rc && known);
    }
    for (int i = 0; i < 100; i++) {
        for (size_t k = n; k < n + 64; k++)
            good[k] = (uint8_t)below(256);
        check_note(decode_exactly(d, good, n + 1 + below(64), again) == 0 && !memcmp(out, again, d->size), __FILE__,
                   __LINE__, d->name, (double)n, i);
    }
}

/* No decoder keeps anything of what `out` held before. */
static void test_clears(const struct decoder *d, void *out, void *again)
{
    uint8_t good[1024];
    size_t n = good_answer(d, good);
    memset(out, 0x00, d->size);
    memset(again, 0xff, d->size);
    CHECK(d->decode(good, n, out) == 0 && d->decode(good, n, again) == 0 && !memcmp(out, again, d->size));
    memset(again, 0xff, d->size);
    CHECK(d->decode(good, 0, again) == SATED_PARSE && *(uint64_t *)again == 0);
}

/* The list of a WCE change is made from what a drive answered, too. */
static void test_wce_list(unsigned count)
{
    const struct decoder *mode = NULL;
    for (size_t i = 0; i < DECODERS; i++)
        if (!strcmp(decoders[i].name, "mode 10"))
            mode = &decoders[i];
    CHECK(mode);
    for (unsigned i = 0; i < count; i++) {
        uint8_t data[1024], *copy;
        size_t n = make(mode, data, sizeof data), cap = below(2) ? 1024 : below(200);
        uint8_t *buf = malloc(cap ? cap : 1);
        int rc;
        copy = malloc(n ? n : 1);
        memcpy(copy, data, n);
        rc = sated_scsi_build_wce_list(buf, cap, copy, n, true, true);
        CHECK(rc == SATED_PARSE || (rc >= 8 + 3 && (size_t)rc <= cap && (size_t)rc <= n));
        free(copy);
        free(buf);
    }
}

static void test_texts(void)
{
    char text[96];
    for (unsigned asc = 0; asc < 256; asc++)
        for (unsigned ascq = 0; ascq < 256; ascq++) {
            sated_scsi_asc_text(asc, ascq, text, sizeof text);
            CHECK(text[0] && strlen(text) < sizeof text - 1);
            sated_scsi_asc_text(asc, ascq, text, 8);
            CHECK_EQ(strlen(text), (size_t)7);
        }
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned action = 0; action < 0x2000; action += opcode == 0x7f ? 1 : 0x13) {
            const char *name = sated_scsi_opcode_text(opcode, action);
            CHECK(!name || strlen(name) < sizeof((struct sated_scsi_opcode *)0)->name);
        }
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20000;
    random_seed(&rng, 20240229, 0);
    for (size_t i = 0; i < DECODERS; i++) {
        const struct decoder *d = &decoders[i];
        void *out = malloc(d->size), *again = malloc(d->size);
        test_clears(d, out, again);
        test_ends(d, out, again);
        for (unsigned k = 0; k < count; k++)
            try_one(d, out, again);
        free(out);
        free(again);
    }
    test_wce_list(count);
    test_texts();
    return check_done();
}
