/* SPDX-License-Identifier: MIT */
#include "transport/scrub.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"

#define SHORTEST_SERIAL 4 /* what is shorter would be found everywhere */
#define SECTOR 512
#define EUI_TEXT 16

static const struct scrub_name *find(const struct scrub *s, const uint8_t *from, size_t length)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->names[i].length == length && !memcmp(s->names[i].from, from, length))
            return &s->names[i];
    return NULL;
}

static void add(struct scrub *s, const uint8_t *from, const uint8_t *to, size_t length)
{
    if (s->n == SCRUB_NAMES || length == 0 || length > SCRUB_LONGEST || find(s, from, length))
        return;
    memcpy(s->names[s->n].from, from, length);
    memcpy(s->names[s->n].to, to, length);
    s->names[s->n++].length = length;
}

static void swap_pairs(uint8_t *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i ^ 1];
}

static bool is_blank(uint8_t c)
{
    return c <= ' ' || c == 0xff;
}

static size_t without_blanks(const uint8_t **text, size_t n)
{
    for (; n && is_blank(**text); n--)
        ++*text;
    while (n && is_blank((*text)[n - 1]))
        n--;
    return n;
}

/* A serial number as text, blanks around it left alone: SATED and a number, in as many characters. */
static void add_serial(struct scrub *s, const uint8_t *text, size_t n)
{
    uint8_t to[SCRUB_LONGEST];
    n = without_blanks(&text, n);
    if (n < SHORTEST_SERIAL || n > SCRUB_LONGEST || find(s, text, n))
        return;
    static const char stem[] = "SATED";
    unsigned number = ++s->serials;
    for (size_t i = n; i-- > 0; number /= 10)
        to[i] = n >= sizeof stem && i < sizeof stem - 1 ? (uint8_t)stem[i] : (uint8_t)('0' + number % 10);
    add(s, text, to, n);
}

/* A serial number whose characters stand in swapped pairs (ACS-4 3.4.9): in both orders, for logs repeat it plainly. */
static void add_swapped_serial(struct scrub *s, const uint8_t *words, size_t n)
{
    uint8_t plain[SCRUB_LONGEST], swapped[SCRUB_LONGEST];
    swap_pairs(plain, words, n);
    add_serial(s, plain, n);
    const uint8_t *text = plain;
    size_t length = without_blanks(&text, n);
    const struct scrub_name *name = find(s, text, length); /* that of now, or of a page that told it before */
    if (!name)
        return;
    /* As a whole field, since a part of odd length cannot be swapped by itself. */
    memcpy(plain + (text - plain), name->to, length);
    swap_pairs(swapped, plain, n);
    add(s, words, swapped, n);
}

/* The same name in hexadecimal digits, as name strings and qualified names have it; of a UUID with its dashes too. */
static void add_as_text(struct scrub *s, const uint8_t *from, const uint8_t *to, size_t n)
{
    static const char *const digits[] = {"0123456789abcdef", "0123456789ABCDEF"};
    for (size_t letters = 0; n >= 8 && letters < 2; letters++)
        for (int dashes = 0; dashes < 1 + (n == 16); dashes++) {
            uint8_t text[2][SCRUB_LONGEST];
            size_t used = 0;
            for (size_t i = 0; i < n && used + 3 <= SCRUB_LONGEST; i++) {
                if (dashes && (i == 4 || i == 6 || i == 8 || i == 10)) {
                    text[0][used] = text[1][used] = '-';
                    used++;
                }
                for (int half = 4; half >= 0; half -= 4, used++) {
                    text[0][used] = (uint8_t)digits[letters][from[i] >> half & 15];
                    text[1][used] = (uint8_t)digits[letters][to[i] >> half & 15];
                }
            }
            add(s, text[0], text[1], used);
        }
}

/* A binary name: the first `keep` bytes say who made it, the rest which one it is. */
static void add_binary(struct scrub *s, const uint8_t *from, size_t n, size_t keep)
{
    uint8_t to[SCRUB_LONGEST] = {0};
    bool any = false;
    for (size_t i = keep; i < n && n <= SCRUB_LONGEST; i++)
        any = any || (from[i] && from[i] != 0xff);
    if (!any)
        return;
    memcpy(to, from, keep);
    to[n - 1] = (uint8_t)(s->n + 1);
    if (find(s, from, n))
        return;
    add(s, from, to, n);
    add_as_text(s, from, to, n);
}

static void learn_identify(struct scrub *s, const uint8_t *d, size_t n)
{
    uint8_t wwn[8];
    if (n < SECTOR)
        return;
    add_swapped_serial(s, d + 20, 20); /* words 10 to 19 */
    if (!(bytes_le16(d + 168) & 0x100))
        return;
    swap_pairs(wwn, d + 216, 8); /* words 108 to 111, the first the highest */
    add_binary(s, wwn, 8, 4);
    const struct scrub_name *name = find(s, wwn, 8);
    if (name) {
        uint8_t swapped[8];
        swap_pairs(swapped, name->to, 8);
        add(s, d + 216, swapped, 8);
    }
}

/* SPC-6 7.7.6.1 */
static void learn_designators(struct scrub *s, const uint8_t *d, size_t n)
{
    size_t end = n < 4 ? 0 : 4 + (size_t)bytes_be16(d + 2);
    if (end > n)
        end = n;
    for (size_t at = 4; at + 4 <= end && at + 4 + d[at + 3] <= end; at += 4u + d[at + 3]) {
        const uint8_t *name = d + at + 4;
        size_t length = d[at + 3];
        switch (d[at + 1] & 15) {
        case SATED_DESIGNATOR_NAA: add_binary(s, name, length, length < 4 ? length : 4); break;
        case SATED_DESIGNATOR_EUI64: add_binary(s, name, length, length < 3 ? length : 3); break;
        case SATED_DESIGNATOR_UUID: add_binary(s, name, length, length < 2 ? length : 2); break;
        case SATED_DESIGNATOR_VENDOR:
            if ((d[at] & 15) >= 2)
                add_serial(s, name, length);
            break;
        case SATED_DESIGNATOR_T10: /* the vendor, the model, the serial number */
        case SATED_DESIGNATOR_NAME:
            length = without_blanks(&name, length); /* NULs pad it (SPC-6 7.7.6.11) */
            for (size_t i = length; i > 0; i--)
                if (i == 1 || is_blank(name[i - 2]) || name[i - 2] == '.' || name[i - 2] == ',') {
                    if ((d[at + 1] & 15) == SATED_DESIGNATOR_T10 || length - (i - 1) >= 12)
                        add_serial(s, name + i - 1, length - (i - 1));
                    break;
                }
            break;
        default: break;
        }
    }
}

static void learn_inquiry(struct scrub *s, const uint8_t *cdb, const uint8_t *d, size_t n)
{
    if (!(cdb[1] & 1)) {
        if (n >= 56)
            add_serial(s, d + 36, 20); /* vendor specific: a serial number with most makers */
        return;
    }
    switch (n > 1 ? d[1] : 0) {
    case 0x80:
        if (n > 4)
            add_serial(s, d + 4, bytes_be16(d + 2) < n - 4 ? bytes_be16(d + 2) : n - 4);
        break;
    case 0x83: learn_designators(s, d, n); break;
    case 0x89:
        if (n >= 60 + SECTOR)
            learn_identify(s, d + 60, SECTOR);
        break;
    default: break;
    }
}

static bool is_digit(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}

/* NVMe Base 2.0 4.5: a qualified name may have a UUID, an EUI-64 or an NGUID in it, all of them 16 digits or more; the
 * serial number in one is known from elsewhere. */
static void learn_subnqn(struct scrub *s, const uint8_t *name, size_t n)
{
    for (size_t at = 0, end; at < n && name[at]; at = end + 1) {
        for (end = at; end < n && is_digit(name[end]); end++)
            ;
        if (end - at >= EUI_TEXT)
            add_serial(s, name + at, end - at);
    }
}

/* NVMe Base 2.0 5.17.2: EUI-64, NGUID, UUID of a namespace; serial number, SUBNQN, FGUID of a controller. */
static void learn_nvme(struct scrub *s, const struct sated_nvme_command *c, const uint8_t *d, size_t n)
{
    if (c->opcode != SATED_NVME_ADMIN_IDENTIFY)
        return;
    switch (c->cdw10 & 0xff) {
    case SATED_NVME_CNS_CTRL:
        if (n < 128)
            return;
        add_serial(s, d + 4, 20);
        add_binary(s, d + 112, 16, 8);
        if (n >= 1024)
            learn_subnqn(s, d + 768, 256);
        break;
    case SATED_NVME_CNS_NS:
    case SATED_NVME_CNS_ALLOCATED_NS:
        if (n < 128)
            return;
        add_binary(s, d + 104, 16, 8);
        add_binary(s, d + 120, 8, 3);
        break;
    case SATED_NVME_CNS_NS_DESCS:
        for (size_t at = 0; at + 4 <= n && d[at] && at + 4 + d[at + 1] <= n; at += 4u + d[at + 1])
            if (d[at] <= 3) /* 1 EUI-64, 2 NGUID, 3 UUID */
                add_binary(s, d + at + 4, d[at + 1], d[at] == 1 ? 3 : d[at] == 2 ? 8 : 0);
        break;
    default: break;
    }
}

void scrub_learn(struct scrub *s, const struct command *c, const uint8_t *data, size_t n)
{
    struct sated_ata_command ata;
    if (c->nvme) {
        if (c->set == SATED_COMMANDS_NVME_ADMIN)
            learn_nvme(s, c->nvme, data, n);
    } else if (command_unwrap_ata(c->scsi, &ata)) {
        if (ata.command == 0xec || ata.command == 0xa1)
            learn_identify(s, data, n);
    } else if (c->scsi->cdb[0] == 0x12) {
        learn_inquiry(s, c->scsi->cdb, data, n);
    }
}

/* The integrity word of IDENTIFY (ACS-4 7.13.7.107): A5h in byte 510 says that all 512 bytes sum up to 0. */
static void sum_up(uint8_t *sector)
{
    uint8_t sum = 0;
    if (sector[510] != 0xa5)
        return;
    for (size_t i = 0; i < SECTOR - 1; i++)
        sum = (uint8_t)(sum + sector[i]);
    sector[511] = (uint8_t)-sum;
}

static void replace(const struct scrub *s, uint8_t *data, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        const struct scrub_name *longest = NULL; /* a name may begin with another one */
        for (size_t i = 0; i < s->n; i++) {
            const struct scrub_name *name = &s->names[i];
            if (name->length <= n - at && (!longest || name->length > longest->length) &&
                !memcmp(data + at, name->from, name->length))
                longest = name;
        }
        if (!longest)
            continue;
        memcpy(data + at, longest->to, longest->length);
        at += longest->length - 1;
    }
}

void scrub_apply(const struct scrub *s, const struct command *c, uint8_t *data, size_t n)
{
    struct sated_ata_command ata;
    replace(s, data, n);
    if (c->nvme)
        return;
    if (command_unwrap_ata(c->scsi, &ata)) {
        if ((ata.command == 0xec || ata.command == 0xa1) && n >= SECTOR)
            sum_up(data);
        /* Its page 0 repeats nothing, page 1 is IDENTIFY itself (ACS-4 9.11). */
        if ((ata.command == 0x2f || ata.command == 0x47) && (ata.lba & 0xff) == 0x30)
            for (size_t at = 0; at + SECTOR <= n; at += SECTOR)
                if (((ata.lba >> 8 & 0xff) + at / SECTOR) == 1)
                    sum_up(data + at);
    } else if (c->scsi->cdb[0] == 0x12 && (c->scsi->cdb[1] & 1) && n >= 60 + SECTOR && data[1] == 0x89) {
        sum_up(data + 60);
    }
}

void scrub_text(const struct scrub *s, char *text)
{
    replace(s, (uint8_t *)text, strlen(text));
}
