/* SPDX-License-Identifier: MIT */
/* ATA commands as registers, and the data that some of them take. */
#include <sated/ata.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"

#define SECTOR 512u
#define LBA_BIT 0x40u /* DEVICE bit 6: an address, not cylinder, head and sector */

/* The signatures that keep a stray command from erasing (ACS-4, Sanitize Device). */
#define SANITIZE_CRYPTO UINT64_C(0x43727970)
#define SANITIZE_BLOCK UINT64_C(0x426b4572)
#define SANITIZE_OVERWRITE UINT64_C(0x4f5700000000)
#define SANITIZE_FREEZE UINT64_C(0x46724c6b)
#define SANITIZE_ANTIFREEZE UINT64_C(0x416e7469)

#define SMART_SIGNATURE UINT64_C(0xc24f00) /* LBA 23:8 of every SMART command */

static void command(struct sated_ata_command *c, uint8_t opcode, enum sated_ata_protocol protocol)
{
    memset(c, 0, sizeof *c);
    c->command = opcode;
    c->protocol = (uint8_t)protocol;
    c->device = LBA_BIT;
}

/* Without data the registers are all there is to tell. */
static int no_data(struct sated_ata_command *c, uint8_t opcode, uint32_t features, bool ext)
{
    command(c, opcode, SATED_ATA_NON_DATA);
    c->features = (uint16_t)features;
    c->ext = ext;
    c->ck_cond = 1;
    return 0;
}

/* `blocks` of 512 bytes, counted in COUNT. */
static void data(struct sated_ata_command *c, uint8_t opcode, enum sated_ata_protocol protocol, bool out,
                 uint32_t blocks)
{
    command(c, opcode, protocol);
    c->direction = out ? SATED_ATA_OUT : SATED_ATA_IN;
    c->count = (uint16_t)blocks;
    c->data_len = blocks * SECTOR;
}

static int refuse(const char *what, const char *field, uint64_t value, uint64_t least, uint64_t most)
{
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: %s is %llu; it must be %llu to %llu", what, field,
                     (unsigned long long)value, (unsigned long long)least, (unsigned long long)most);
}

#define REQUIRE(what, field, value, least, most) \
    do { \
        uint64_t require_value = (value), require_least = (least), require_most = (most); \
        if (require_value < require_least || require_value > require_most) \
            return refuse(what, field, require_value, require_least, require_most); \
    } while (0)

static uint64_t last_lba(bool ext)
{
    return ext ? UINT64_C(0xffffffffffff) : UINT64_C(0xfffffff);
}

int sated_ata_build_identify_device(struct sated_ata_command *c)
{
    data(c, 0xec, SATED_ATA_PIO_IN, false, 1);
    return 0;
}

int sated_ata_build_read_log(struct sated_ata_command *c, uint32_t log, uint32_t page, uint32_t pages,
                             uint32_t features, bool dma)
{
    const char *what = dma ? "READ LOG DMA EXT" : "READ LOG EXT";
    REQUIRE(what, "the log", log, 0, 0xff);
    REQUIRE(what, "the page", page, 0, 0xffff);
    REQUIRE(what, "the number of pages", pages, 1, 0xffff);
    REQUIRE(what, "FEATURES", features, 0, 0xffff);
    data(c, dma ? 0x47 : 0x2f, dma ? SATED_ATA_DMA : SATED_ATA_PIO_IN, false, pages);
    c->ext = 1;
    c->features = (uint16_t)features;
    c->lba = log | (uint64_t)(page & 0xff) << 8 | (uint64_t)(page >> 8) << 32;
    return 0;
}

static int smart(struct sated_ata_command *c, uint8_t features, uint8_t low)
{
    no_data(c, 0xb0, features, false);
    c->lba = SMART_SIGNATURE | low;
    return 0;
}

static int smart_data(struct sated_ata_command *c, uint8_t features, uint8_t low, bool out, uint32_t blocks)
{
    data(c, 0xb0, out ? SATED_ATA_PIO_OUT : SATED_ATA_PIO_IN, out, blocks);
    c->features = features;
    c->lba = SMART_SIGNATURE | low;
    return 0;
}

int sated_ata_build_smart_read_data(struct sated_ata_command *c)
{
    return smart_data(c, 0xd0, 0, false, 1);
}

int sated_ata_build_smart_read_thresholds(struct sated_ata_command *c)
{
    return smart_data(c, 0xd1, 0, false, 1);
}

int sated_ata_build_smart_return_status(struct sated_ata_command *c)
{
    return smart(c, 0xda, 0);
}

int sated_ata_build_smart_enable(struct sated_ata_command *c)
{
    return smart(c, 0xd8, 0);
}

int sated_ata_build_smart_disable(struct sated_ata_command *c)
{
    return smart(c, 0xd9, 0);
}

int sated_ata_build_smart_read_log(struct sated_ata_command *c, uint32_t log, uint32_t pages)
{
    REQUIRE("SMART READ LOG", "the log", log, 0, 0xff);
    REQUIRE("SMART READ LOG", "the number of pages", pages, 1, 0xff);
    return smart_data(c, 0xd5, (uint8_t)log, false, pages);
}

int sated_ata_build_smart_write_log(struct sated_ata_command *c, uint32_t log, uint32_t pages)
{
    REQUIRE("SMART WRITE LOG", "the log", log, 0, 0xff);
    REQUIRE("SMART WRITE LOG", "the number of pages", pages, 1, 0xff);
    return smart_data(c, 0xd6, (uint8_t)log, true, pages);
}

int sated_ata_build_smart_offline(struct sated_ata_command *c, uint32_t subcommand)
{
    uint32_t test = subcommand & ~(uint32_t)SATED_ATA_TEST_CAPTIVE;
    bool vendor = (subcommand >= 0x40 && subcommand <= 0x7e) || (subcommand >= 0x90 && subcommand <= 0xff);
    if (subcommand > 0xff || (subcommand != SATED_ATA_TEST_ABORT && !vendor && test > SATED_ATA_TEST_SELECTIVE) ||
        subcommand == SATED_ATA_TEST_CAPTIVE)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "SMART EXECUTE OFF-LINE IMMEDIATE: subcommand %02Xh is reserved; use 00h to 04h, 81h to 84h, "
                         "7Fh to abort, or one of the maker's own",
                         (unsigned)subcommand);
    return smart(c, 0xd4, (uint8_t)subcommand);
}

static int security_out(struct sated_ata_command *c, uint8_t opcode, uint32_t timeout_ms)
{
    data(c, opcode, SATED_ATA_PIO_OUT, true, 1);
    c->ck_cond = 1; /* that the command was accepted is the answer */
    c->timeout_ms = timeout_ms;
    return 0;
}

int sated_ata_build_security_set_password(struct sated_ata_command *c)
{
    return security_out(c, 0xf1, 0);
}

int sated_ata_build_security_unlock(struct sated_ata_command *c)
{
    return security_out(c, 0xf2, 0);
}

int sated_ata_build_security_erase_prepare(struct sated_ata_command *c)
{
    return no_data(c, 0xf3, 0, false);
}

int sated_ata_build_security_erase_unit(struct sated_ata_command *c, uint32_t timeout_ms)
{
    return security_out(c, 0xf4, timeout_ms);
}

int sated_ata_build_security_freeze_lock(struct sated_ata_command *c)
{
    return no_data(c, 0xf5, 0, false);
}

int sated_ata_build_security_disable_password(struct sated_ata_command *c)
{
    return security_out(c, 0xf6, 0);
}

/* ACS-4, SECURITY SET PASSWORD and its kin: word 0 holds the switches, words 1-16 the password, word 17 the master password's identifier. */
int sated_ata_build_security_data(void *buf, size_t cap, const struct sated_ata_security_data *in)
{
    uint8_t *b = buf;
    bool set = in->command == 0xf1, erase = in->command == 0xf4;
    if (!set && !erase && in->command != 0xf2 && in->command != 0xf6)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "Security data: command %02Xh takes none; it must be F1h, F2h, F4h or F6h",
                         (unsigned)in->command);
    REQUIRE("Security data", "the buffer's length", cap, SECTOR, SIZE_MAX);
    REQUIRE("Security data", "the password's length", in->n_password, 0, sizeof in->password);
    REQUIRE("Security data", "IDENTIFIER", in->master, 0, 1);
    if (in->maximum && (in->master || !set))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "Security data: a level belongs to the user password and SECURITY SET PASSWORD (F1h); leave "
                         "maximum out for %s",
                         set ? "the master password" : "this command");
    REQUIRE("Security data", "the level", in->maximum, 0, 1);
    REQUIRE("Security data", "ERASE MODE of this command", in->enhanced, 0, erase);
    REQUIRE("Security data", "the revision of this command and password", in->revision, 0,
            set && in->master ? 0xfffe : 0);
    memset(b, 0, SECTOR);
    b[0] = (uint8_t)(in->master | in->enhanced << 1);
    b[1] = (uint8_t)in->maximum;
    memcpy(b + 2, in->password, in->n_password);
    bytes_put_le16(b + 34, (uint16_t)in->revision);
    return (int)SECTOR;
}

int64_t sated_ata_erase_timeout_ms(uint32_t word)
{
    bool extended = word >> 15 & 1;
    int64_t units = word & (extended ? 0x7fff : 0xff), minutes = 2 * units;
    bool open = units == (extended ? 0x7fff : 0xff); /* more than what one unit less would be */
    if (open)
        minutes -= 2;
    minutes = minutes > 10 ? 2 * minutes : minutes + 10;
    if ((!units || open) && minutes < 12 * 60)
        minutes = 12 * 60;
    return minutes * 60000 < UINT32_MAX ? minutes * 60000 : UINT32_MAX;
}

static int sanitize(struct sated_ata_command *c, uint32_t features, uint64_t lba, uint32_t count)
{
    no_data(c, 0xb4, features, true);
    c->lba = lba;
    c->count = (uint16_t)count;
    return 0;
}

static uint32_t sanitize_count(bool failure_mode, bool zoned_no_reset)
{
    return (uint32_t)failure_mode << 4 | (uint32_t)zoned_no_reset << 15;
}

int sated_ata_build_sanitize_status(struct sated_ata_command *c, bool clear)
{
    return sanitize(c, 0x0000, 0, clear);
}

int sated_ata_build_sanitize_crypto_scramble(struct sated_ata_command *c, bool failure_mode, bool zoned_no_reset)
{
    return sanitize(c, 0x0011, SANITIZE_CRYPTO, sanitize_count(failure_mode, zoned_no_reset));
}

int sated_ata_build_sanitize_block_erase(struct sated_ata_command *c, bool failure_mode, bool zoned_no_reset)
{
    return sanitize(c, 0x0012, SANITIZE_BLOCK, sanitize_count(failure_mode, zoned_no_reset));
}

int sated_ata_build_sanitize_freeze_lock(struct sated_ata_command *c)
{
    return sanitize(c, 0x0020, SANITIZE_FREEZE, 0);
}

int sated_ata_build_sanitize_antifreeze_lock(struct sated_ata_command *c)
{
    return sanitize(c, 0x0040, SANITIZE_ANTIFREEZE, 0);
}

int sated_ata_build_sanitize_overwrite(struct sated_ata_command *c, uint32_t pattern, uint32_t passes, bool invert,
                                       bool definitive_ending, bool failure_mode, bool zoned_no_reset)
{
    REQUIRE("OVERWRITE EXT", "the number of passes", passes, 1, 16);
    return sanitize(c, 0x0014, SANITIZE_OVERWRITE | pattern,
                    (passes & 0xf) /* 0 stands for 16 */ | (uint32_t)definitive_ending << 6 | (uint32_t)invert << 7 |
                        sanitize_count(failure_mode, zoned_no_reset));
}

int sated_ata_build_read_native_max(struct sated_ata_command *c, bool ext)
{
    return no_data(c, ext ? 0x27 : 0xf8, 0, ext);
}

int sated_ata_build_set_max(struct sated_ata_command *c, bool ext, uint64_t max_lba, bool keep)
{
    REQUIRE(ext ? "SET MAX ADDRESS EXT" : "SET MAX ADDRESS", "the last address", max_lba, 0, last_lba(ext));
    no_data(c, ext ? 0x37 : 0xf9, 0, ext);
    c->lba = max_lba;
    c->count = keep;
    return 0;
}

/* The other forms of F9h are told apart by FEATURES (ATA8-ACS, SET MAX ADDRESS). */
static int set_max_out(struct sated_ata_command *c, uint8_t features)
{
    data(c, 0xf9, SATED_ATA_PIO_OUT, true, 1);
    c->features = features;
    c->ck_cond = 1;
    return 0;
}

int sated_ata_build_set_max_password(struct sated_ata_command *c)
{
    return set_max_out(c, 1);
}

int sated_ata_build_set_max_lock(struct sated_ata_command *c)
{
    return no_data(c, 0xf9, 2, false);
}

int sated_ata_build_set_max_unlock(struct sated_ata_command *c)
{
    return set_max_out(c, 3);
}

int sated_ata_build_set_max_freeze_lock(struct sated_ata_command *c)
{
    return no_data(c, 0xf9, 4, false);
}

int sated_ata_build_set_max_data(void *buf, size_t cap, const void *password, size_t n)
{
    REQUIRE("SET MAX data", "the buffer's length", cap, SECTOR, SIZE_MAX);
    REQUIRE("SET MAX data", "the password's length", n, 0, 32);
    memset(buf, 0, SECTOR);
    if (n)
        memcpy((uint8_t *)buf + 2, password, n);
    return (int)SECTOR;
}

int sated_ata_build_get_native_max(struct sated_ata_command *c)
{
    return no_data(c, 0x78, 0x0000, true);
}

int sated_ata_build_set_accessible_max(struct sated_ata_command *c, uint64_t max_lba)
{
    REQUIRE("SET ACCESSIBLE MAX ADDRESS EXT", "the last address", max_lba, 0, last_lba(true));
    no_data(c, 0x78, 0x0001, true);
    c->lba = max_lba;
    return 0;
}

int sated_ata_build_freeze_accessible_max(struct sated_ata_command *c)
{
    return no_data(c, 0x78, 0x0002, true);
}

int sated_ata_build_dco_restore(struct sated_ata_command *c)
{
    return no_data(c, 0xb1, 0xc0, false);
}

int sated_ata_build_dco_freeze_lock(struct sated_ata_command *c)
{
    return no_data(c, 0xb1, 0xc1, false);
}

int sated_ata_build_dco_identify(struct sated_ata_command *c)
{
    data(c, 0xb1, SATED_ATA_PIO_IN, false, 1);
    c->features = 0xc2;
    return 0;
}

int sated_ata_build_dco_set(struct sated_ata_command *c)
{
    data(c, 0xb1, SATED_ATA_PIO_OUT, true, 1);
    c->features = 0xc3;
    c->ck_cond = 1;
    return 0;
}

int sated_ata_dma_form(struct sated_ata_command *c)
{
    static const struct {
        uint8_t command, pio, dma; /* FEATURES of either */
    } forms[] = {{0xb1, 0xc2, 0xc4}, {0xb1, 0xc3, 0xc5}, {0xf9, 0x01, 0x05}, {0xf9, 0x03, 0x06}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (c->command == forms[i].command && c->features == forms[i].pio) {
            c->features = forms[i].dma;
            c->protocol = SATED_ATA_DMA;
            return 0;
        }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "ATA command %02Xh with FEATURES %04Xh has no DMA form that is told apart by FEATURES; send it as "
                     "it is",
                     c->command, c->features);
}

int sated_ata_build_dco_data(void *buf, size_t cap, const void *identify, size_t n, uint64_t max_lba)
{
    uint8_t *b = buf, sum = 0;
    struct sated_ata_dco dco;
    int rc = sated_ata_decode_dco(identify, n, &dco);
    if (rc)
        return rc;
    REQUIRE("DEVICE CONFIGURATION SET data", "the buffer's length", cap, SECTOR, SIZE_MAX);
    if (dco.checksum != SATED_ATA_CHECKSUM_OK)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "DEVICE CONFIGURATION SET data: the answer of DEVICE CONFIGURATION IDENTIFY has no good "
                         "checksum; read it again");
    REQUIRE("DEVICE CONFIGURATION SET data", "the last address", max_lba, 0, dco.max_lba);
    memmove(b, identify, SECTOR);
    bytes_put_le64(b + 6, max_lba); /* words 3-6 */
    for (size_t i = 0; i < SECTOR - 1; i++)
        sum = (uint8_t)(sum + b[i]);
    b[SECTOR - 1] = (uint8_t)-sum;
    return (int)SECTOR;
}

int sated_ata_build_trim(struct sated_ata_command *c, uint32_t blocks)
{
    REQUIRE("DATA SET MANAGEMENT", "the number of blocks", blocks, 1, 0xffff);
    data(c, 0x06, SATED_ATA_DMA, true, blocks);
    c->ext = 1;
    c->features = 1;
    return 0;
}

int sated_ata_build_trim_list(void *buf, size_t cap, const struct sated_ata_range *ranges, size_t n)
{
    uint8_t *b = buf;
    size_t used = 0, most = 0xffffu * SECTOR, room = cap < most ? cap / SECTOR * SECTOR : most;
    REQUIRE("TRIM list", "the number of ranges", n, 1, SIZE_MAX);
    for (size_t i = 0; i < n; i++) {
        uint64_t lba = ranges[i].lba, left = ranges[i].sectors, end = UINT64_C(1) << 48;
        if (!left || lba >= end || left > end - lba)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "TRIM list: range %zu has %llu sectors from LBA %llu; it must have 1 or more and end at "
                             "2^48 or before",
                             i, (unsigned long long)left, (unsigned long long)lba);
        while (left) {
            uint64_t take = left < SATED_ATA_TRIM_SECTORS ? left : SATED_ATA_TRIM_SECTORS;
            if (used + 8 > room)
                return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                                 "TRIM list: range %zu of %zu does not fit into %zu bytes; send it in several commands",
                                 i, n, room);
            bytes_put_le64(b + used, lba | take << 48);
            used += 8;
            lba += take;
            left -= take;
        }
    }
    while (used % SECTOR) /* an entry of 0 sectors is ignored */
        b[used++] = 0;
    return (int)used;
}

int sated_ata_build_check_power_mode(struct sated_ata_command *c)
{
    return no_data(c, 0xe5, 0, false);
}

static int with_timer(struct sated_ata_command *c, const char *what, uint8_t opcode, uint32_t timer)
{
    REQUIRE(what, "the standby timer", timer, 0, 0xff);
    no_data(c, opcode, 0, false);
    c->count = (uint16_t)timer;
    return 0;
}

int sated_ata_build_idle(struct sated_ata_command *c, uint32_t timer)
{
    return with_timer(c, "IDLE", 0xe3, timer);
}

int sated_ata_build_idle_immediate(struct sated_ata_command *c)
{
    return no_data(c, 0xe1, 0, false);
}

int sated_ata_build_standby(struct sated_ata_command *c, uint32_t timer)
{
    return with_timer(c, "STANDBY", 0xe2, timer);
}

int sated_ata_build_standby_immediate(struct sated_ata_command *c)
{
    return no_data(c, 0xe0, 0, false);
}

int sated_ata_build_sleep(struct sated_ata_command *c)
{
    return no_data(c, 0xe6, 0, false);
}

int sated_ata_build_set_features(struct sated_ata_command *c, uint32_t subcommand, uint32_t count, uint64_t lba)
{
    REQUIRE("SET FEATURES", "the subcommand", subcommand, 0, 0xff);
    REQUIRE("SET FEATURES", "COUNT", count, 0, 0xff);
    REQUIRE("SET FEATURES", "LBA", lba, 0, last_lba(false));
    no_data(c, 0xef, subcommand, false);
    c->count = (uint16_t)count;
    c->lba = lba;
    return 0;
}

int sated_ata_build_set_write_cache(struct sated_ata_command *c, bool on)
{
    return no_data(c, 0xef, on ? 0x02 : 0x82, false);
}

int sated_ata_build_set_look_ahead(struct sated_ata_command *c, bool on)
{
    return no_data(c, 0xef, on ? 0xaa : 0x55, false);
}

int sated_ata_build_set_apm(struct sated_ata_command *c, uint32_t level)
{
    REQUIRE("SET FEATURES, APM", "the level", level, 0, 0xfe);
    return sated_ata_build_set_features(c, level ? 0x05 : 0x85, level, 0);
}

int sated_ata_build_set_epc(struct sated_ata_command *c, uint32_t subcommand, uint32_t condition, uint32_t parameter)
{
    REQUIRE("SET FEATURES, EPC", "the subcommand", subcommand, 0, 0xf);
    REQUIRE("SET FEATURES, EPC", "the power condition", condition, 0, 0xff);
    REQUIRE("SET FEATURES, EPC", "LBA 27:4", parameter, 0, 0xffffff);
    return sated_ata_build_set_features(c, 0x4a, condition, (uint64_t)parameter << 4 | subcommand);
}

int sated_ata_build_set_sata_feature(struct sated_ata_command *c, uint32_t feature, bool on)
{
    REQUIRE("SET FEATURES, SATA", "the feature", feature, 1, 0xff);
    return sated_ata_build_set_features(c, on ? 0x10 : 0x90, feature, 0);
}

int sated_ata_build_flush_cache(struct sated_ata_command *c, bool ext)
{
    return no_data(c, ext ? 0xea : 0xe7, 0, ext);
}

static int transfer(struct sated_ata_command *c, uint64_t lba, uint32_t sectors, uint32_t block_bytes, bool dma,
                    bool ext, bool out)
{
    static const uint8_t opcodes[2][2][2] = {{{0x20, 0x24}, {0xc8, 0x25}}, {{0x30, 0x34}, {0xca, 0x35}}};
    const char *what = out ? "WRITE" : "READ";
    uint32_t most = ext ? 65536 : 256;
    if (block_bytes < SECTOR || block_bytes > 65536 || block_bytes % SECTOR)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a logical sector of %u bytes; it must be a multiple of 512, up to 65536", what,
                         (unsigned)block_bytes);
    REQUIRE(what, "the number of sectors", sectors, 1, most);
    REQUIRE(what, "the first address", lba, 0, last_lba(ext) + 1 - sectors);
    if ((uint64_t)sectors * block_bytes > UINT32_MAX)
        return refuse(what, "the number of sectors", sectors, 1, UINT32_MAX / block_bytes);
    command(c, opcodes[out][dma][ext], dma ? SATED_ATA_DMA : out ? SATED_ATA_PIO_OUT : SATED_ATA_PIO_IN);
    c->direction = out ? SATED_ATA_OUT : SATED_ATA_IN;
    c->ext = ext;
    c->lba = lba;
    c->count = (uint16_t)(sectors % most); /* 0 stands for the most */
    c->t_type = block_bytes != SECTOR;
    c->data_len = sectors * block_bytes;
    return 0;
}

int sated_ata_build_read(struct sated_ata_command *c, uint64_t lba, uint32_t sectors, uint32_t block_bytes, bool dma,
                         bool ext)
{
    return transfer(c, lba, sectors, block_bytes, dma, ext, false);
}

int sated_ata_build_write(struct sated_ata_command *c, uint64_t lba, uint32_t sectors, uint32_t block_bytes, bool dma,
                          bool ext)
{
    return transfer(c, lba, sectors, block_bytes, dma, ext, true);
}
