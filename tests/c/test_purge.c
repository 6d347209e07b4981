/* SPDX-License-Identifier: MIT */
/* Purges by the drive's own commands: every method on every target, what is taken by itself, every refusal with its next
 * step, failures and stalls, stopping, and what is verified. Interruptions are in test_purge_walk.c. */
#define _GNU_SOURCE 1
#include "purges.h"

#include "drive/purge.h"

#define ATA "sim:x210,capacity=128GB,scale=1/64"
#define SAS "sim:s840,scale=1/64"
#define NVME "sim:generic-tlc-nvme,capacity=960GB,scale=1/1024"
#define SECOND INT64_C(1000000000)

enum { AUTO, DEAL = SATED_PURGE_DEALLOCATE, SAME, BLOCK, CRYPTO, OVER, FORMAT, FCRYPTO, ENHANCED, SECURITY };

static const char *const uris[] = {ATA, SAS, NVME};
static const uint32_t methods_of[3][8] = {{DEAL, BLOCK, CRYPTO, OVER, ENHANCED, SECURITY},
                                          {DEAL, SAME, BLOCK, CRYPTO, OVER, FORMAT},
                                          {DEAL, SAME, BLOCK, CRYPTO, OVER, FORMAT, FCRYPTO}};

/* ---- A face that keeps what was sent, and may swallow some of it ---- */

static const struct command_face *behind;
static uint8_t opcodes[4096];
static unsigned n_sent;
static int swallows = -1;

static uint8_t opcode_of(const struct command *c)
{
    return c->nvme ? c->nvme->opcode : c->ata ? c->ata->command : c->scsi->cdb[0];
}

static int watch(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    opcodes[n_sent++ % sizeof opcodes] = opcode_of(c);
    if (opcode_of(c) != swallows)
        return behind->send(d, c, reply);
    return 0; /* as if it had been carried out */
}

static const struct command_face watching = {.send = watch};

static struct sated_drive *watched(const char *uri)
{
    struct sated_drive *d = open_drive(uri);
    behind = d->face;
    d->face = &watching;
    n_sent = 0;
    swallows = -1;
    return d;
}

static unsigned times(uint8_t opcode)
{
    unsigned n = 0;
    for (unsigned i = 0; i < n_sent; i++)
        n += opcodes[i] == opcode;
    return n;
}

static int purge_by(struct sated_drive *d, uint32_t method)
{
    want(method);
    return purge(d);
}

static int resume(struct sated_drive *d)
{
    want(AUTO);
    options.resume = 1;
    return purge(d);
}

static uint32_t pending(struct sated_drive *d, const char *part)
{
    struct sated_purge_pending left;
    int rc = sated_purge_get_pending(d, &left);
    CHECK(rc == (left.state != SATED_PURGE_NOTHING));
    if (!strstr(left.text, part))
        printf("%s lacks %s\n", left.text, part);
    CHECK_TEXT(left.text, part);
    return left.state;
}

/* ---- Methods ---- */

static void test_methods(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct sated_drive *d = open_drive(uris[i]);
        struct sated_purge_way ways[SATED_PURGE_LAST];
        CHECK_EQ(sated_purge_list(d, ways, SATED_PURGE_LAST), SATED_PURGE_LAST);
        for (uint32_t m = 1; m < SATED_PURGE_EXTERNAL; m++) {
            bool has = memchr(methods_of[i], 0, 0) != NULL;
            for (size_t k = 0; k < 8; k++)
                has |= methods_of[i][k] == m;
            CHECK_EQ(ways[m - 1].method, m);
            CHECK_EQ(ways[m - 1].supported, has);
            CHECK_EQ(ways[m - 1].why_not[0] == '\0', has);
            if (!has) {
                CHECK_EQ(purge_by(d, m), SATED_UNSUPPORTED);
                continue;
            }
            CHECK_EQ(ways[m - 1].level == SATED_PURGE_ADVISORY, m == DEAL || m == SAME);
            want(m);
            PURGED(d);
            int value = -1;
            CHECK_EQ(outcome.method, m);
            CHECK(outcome.done && outcome.duration_ns > 0);
            CHECK_EQ(outcome.canaries, 64);
            CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
            CHECK_TEXT(outcome.text, "spare area");
            CHECK_EQ(strstr(outcome.text, "advisory") != NULL, m == DEAL || m == SAME);
            CHECK_EQ(read_first(d, &value), 0);
            CHECK_EQ(value, 0);
            /* Overwriting leaves flash full, but where what was written is deallocated after it (NVMe, NDAS clear). */
            CHECK_EQ(mapped(d) > 0, m == OVER && i != 2);
            CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);
        }
        CHECK_EQ(purge_by(d, AUTO), 0);
        CHECK_EQ(outcome.method, BLOCK);
        sated_drive_close(d);
    }
}

/* The order that the header gives, of whatever a drive has. */
static void test_order(void)
{
    static const uint32_t orders[3][5] = {{BLOCK, ENHANCED, SECURITY, CRYPTO},
                                          {BLOCK, CRYPTO, FORMAT},
                                          {BLOCK, FORMAT, CRYPTO, FCRYPTO}};
    want(AUTO);
    for (size_t i = 0; i < 3; i++) {
        struct sated_drive *d = open_drive(uris[i]);
        for (uint32_t has = 0; has < 1u << (SATED_PURGE_EXTERNAL + 1); has += 2) {
            struct purge_look l = {0};
            uint32_t method, expected = 0;
            for (uint32_t m = 1; m < SATED_PURGE_EXTERNAL; m++) {
                l.way[m].supported = has >> m & 1;
                l.refusal[m] = has >> m & 1 ? 0 : SATED_UNSUPPORTED;
            }
            for (const uint32_t *m = orders[i]; !expected && *m; m++)
                expected = has >> *m & 1 ? *m : 0;
            int rc = purge_choose(d, &l, &options, &method);
            if (expected ? rc != 0 || method != expected : rc != SATED_UNSUPPORTED)
                CHECK_EQ(method, expected);
        }
        sated_drive_close(d);
    }
    CHECK(true);
}

/* FNA bit 1: an erase by Format NVM reaches all namespaces (NVMe Base 2.0, figure 275). */
static int format_all(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    int rc = watch(d, c, reply);
    if (c->nvme && opcode_of(c) == SATED_NVME_ADMIN_IDENTIFY && c->nvme->cdw10 == SATED_NVME_CNS_CTRL)
        ((uint8_t *)c->data)[524] |= 2;
    return rc;
}

static const struct command_face formatting_all = {.send = format_all};

/* Of one namespace alone: what reaches no further, in the same order, and which better one was passed over. */
static void test_narrow(void)
{
    struct sated_purge_way way;
    struct sated_drive *d = watched(NVME);
    want(AUTO);
    CHECK_EQ(sated_purge_check(d, &options, &way), 0);
    CHECK(way.method == BLOCK && !way.why[0]);
    d->permitted_whole = false; /* as with SERIAL:1 */
    CHECK_EQ(sated_purge_check(d, &options, &way), 0);
    CHECK(way.method == FORMAT && !way.whole);
    CHECK_TEXT(way.why, "sanitize-block comes first, but reaches all of the device");
    CHECK_TEXT(way.why, "SERIAL:all");
    PURGED(d);
    CHECK_EQ(outcome.method, FORMAT);
    CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
    CHECK_TEXT(outcome.text, "sanitize-block comes first");
    CHECK_EQ(times(SATED_NVME_ADMIN_SANITIZE), 0);
    REFUSED(purge_by(d, BLOCK), SATED_UNSAFE, "SERIAL:all");

    /* Nothing that reaches no further is left: it is not widened. */
    d->face = &formatting_all;
    n_sent = 0;
    REFUSED(purge_by(d, AUTO), SATED_UNSAFE, "SERIAL:all");
    CHECK_EQ(times(SATED_NVME_ADMIN_FORMAT) + times(SATED_NVME_ADMIN_SANITIZE), 0);
    CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);

    /* Nor is a failure of all of it left with the consent of a part. */
    d->face = &watching;
    d->permitted_whole = true;
    ruin(d, SATED_FAULT_OPERATION_FAILS, 0, -1, 1, 0);
    CHECK(purge_by(d, BLOCK) < 0);
    d->permitted_whole = false;
    n_sent = 0;
    REFUSED(resume(d), SATED_UNSAFE, "SERIAL:all");
    CHECK_EQ(times(SATED_NVME_ADMIN_SANITIZE), 0);
    d->permitted_whole = true;
    CHECK_EQ(resume(d), 0);
    sated_drive_close(d);

    d = watched(ATA); /* where no method reaches less */
    d->permitted_whole = false;
    REFUSED(purge_by(d, AUTO), SATED_UNSAFE, "SERIAL:all");
    CHECK_EQ(n_sent, 0);
    sated_drive_close(d);
}

/* AUSE, FAILURE MODE set, NDAS clear: in the bytes that go out. */
static const struct command *caught;
static struct sated_nvme_command caught_nvme;
static struct sated_ata_command caught_ata;
static struct sated_scsi_command caught_scsi;

static int catch (struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    if (c->nvme && c->nvme->admin && c->nvme->opcode == SATED_NVME_ADMIN_SANITIZE)
        caught_nvme = *c->nvme;
    if (c->ata && c->ata->command == 0xb4 && c->ata->features)
        caught_ata = *c->ata;
    if (!c->nvme && !c->ata && c->scsi->cdb[0] == 0x48)
        caught_scsi = *c->scsi;
    caught = c;
    return behind->send(d, c, reply);
}

static const struct command_face catching = {.send = catch};

static void test_bits(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct sated_drive *d = watched(uris[i]);
        d->face = &catching;
        CHECK_EQ(purge_by(d, BLOCK), 0);
        sated_drive_close(d);
    }
    CHECK_EQ(caught_nvme.cdw10, 2 | 8); /* NVMe Base 2.0c figure 309: SANACT 2, AUSE; NDAS is bit 9 */
    CHECK_EQ(caught_nvme.nsid, 0);
    CHECK_EQ(caught_ata.features, 0x12);           /* ACS-4 7.36: BLOCK ERASE EXT */
    CHECK_EQ(caught_ata.count, 0x10);              /* FAILURE MODE is bit 4 */
    CHECK_EQ(caught_scsi.cdb[1], 0x80 | 0x20 | 2); /* SBC-4 5.30: IMMED, AUSE, BLOCK ERASE */
}

/* ---- ATA Security ---- */

static void test_frozen(void)
{
    struct sated_ata_command c;
    struct sated_drive *d = watched(ATA);
    CHECK_EQ(sated_ata_build_security_freeze_lock(&c), 0);
    CHECK_EQ(sated_ata_raw(d, &c, NULL, NULL, NULL), 0);
    REFUSED(purge_by(d, SECURITY), SATED_FROZEN, "suspend and resume the machine or re-plug the drive");
    CHECK_EQ(purge_by(d, AUTO), 0); /* Sanitize does not care */
    CHECK_EQ(outcome.method, BLOCK);
    CHECK_EQ(sated_ata_build_sanitize_freeze_lock(&c), 0);
    CHECK_EQ(sated_ata_raw(d, &c, NULL, NULL, NULL), 0);
    REFUSED(purge_by(d, BLOCK), SATED_FROZEN, "power-cycle");
    REFUSED(purge_by(d, AUTO), SATED_FROZEN, "frozen");
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(sated_ata_build_sanitize_freeze_lock(&c), 0);
    CHECK_EQ(sated_ata_raw(d, &c, NULL, NULL, NULL), 0);
    CHECK_EQ(purge_by(d, AUTO), 0);
    CHECK_EQ(outcome.method, ENHANCED);
    CHECK_EQ(times(0xf4), 1);
    sated_drive_close(d);
}

static void give(const char *password, bool master)
{
    options.n_password = (uint32_t)strlen(password);
    memcpy(options.password, password, options.n_password);
    options.master = master;
}

/* Locked by somebody else: nothing is set, nothing is tried that was not given, and the words say what is the matter. */
static void test_locked(void)
{
    struct sated_drive *d = watched(ATA);
    struct sated_purge_way way;
    CHECK_EQ(ata_security(d, 0xf1, "somebody's", false, false), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    n_sent = 0;
    REFUSED(purge_by(d, AUTO), SATED_LOCKED, "it is locked by a user password, level high");
    REFUSED(purge_by(d, ENHANCED), SATED_LOCKED, "--password");
    REFUSED(purge_by(d, BLOCK), SATED_LOCKED, "locked");
    CHECK_EQ(times(0xf1) + times(0xf2) + times(0xf4) + times(0xf6), 0);
    CHECK_EQ(pending(d, "word 128 is"), SATED_PURGE_LOCKED);

    /* `resume` tries ours once: it may have been us. */
    REFUSED(resume(d), SATED_LOCKED, "not one of a purge by sated");
    CHECK_EQ(times(0xf2), 1);
    want(AUTO);
    give("wrong", false);
    for (int i = 0; i < 4; i++)
        REFUSED(purge(d), SATED_LOCKED, "the password that was given does not fit");
    CHECK_EQ(times(0xf2), 5);
    CHECK_EQ(times(0xf1) + times(0xf4), 0);
    CHECK(ata_identity(d)->words[128] & 0x10); /* ACS-4 w128 bit 4: count expired */
    want(AUTO);
    give("somebody's", false);
    REFUSED(purge(d), SATED_LOCKED, "five wrong passwords");
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(sated_purge_check(d, &options, &way), 0);
    CHECK_EQ(way.method, ENHANCED);
    PURGED(d);
    CHECK_EQ(times(0xf1), 0);
    CHECK_EQ(outcome.method, ENHANCED);
    CHECK_EQ(outcome.canaries, 64);
    CHECK(!ata_identity(d)->security.enabled);

    /* The master password unlocks at level high; at level maximum it only erases, and nothing can be marked before. */
    for (int maximum = 0; maximum < 2; maximum++) {
        CHECK_EQ(ata_security(d, 0xf1, "boss", true, false), 0);
        CHECK_EQ(ata_security(d, 0xf1, "somebody's", false, maximum), 0);
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        want(SECURITY);
        give("boss", true);
        PURGED(d);
        CHECK_EQ(outcome.canaries, maximum ? 0 : 64);
        CHECK_EQ(outcome.verified, maximum ? SATED_PURGE_NOT_VERIFIED : SATED_PURGE_GONE);
        CHECK(!ata_identity(d)->security.enabled);
    }

    /* None is set: the one that was given is not needed, and the erase goes by ours, which was set for it. */
    want(SECURITY);
    give("somebody's", false);
    PURGED(d);
    CHECK(!ata_identity(d)->security.enabled);

    /* Set, but not locked: neither is that password replaced by ours. */
    CHECK_EQ(ata_security(d, 0xf1, "somebody's", false, false), 0);
    n_sent = 0;
    REFUSED(purge_by(d, AUTO), SATED_LOCKED, "will be when it is switched on next");
    REFUSED(resume(d), SATED_LOCKED, "SECURITY ERASE UNIT was refused");
    CHECK_EQ(times(0xf1), 0);
    sated_drive_close(d);
}

/* ACS-4 4.18: a locked drive aborts READ NATIVE MAX and SET MAX. Nothing is begun, for nothing could be finished. */
static void test_locked_capacity(void)
{
    struct sated_drive *d = watched(ATA);
    struct sated_provision_options how;
    struct sated_provision now;
    CHECK_EQ(ata_security(d, 0xf1, "somebody's", false, false), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    static const uint32_t methods[] = {SATED_PROVISION_HPA, SATED_PROVISION_DCO};
    for (size_t i = 0; i < 2; i++) {
        sated_provision_options_init(&how);
        how.method = methods[i];
        REFUSED(sated_provision_set(d, 1 << 30, &how), SATED_LOCKED, "is locked by a password");
    }
    CHECK_EQ(sated_provision_get(d, &now), 0);
    CHECK(!(now.flags & SATED_PROVISION_INTERRUPTED));
    sated_drive_close(d);
}

/* As a bridge that takes the password but not the erase: it must not leave the drive with the password. */
static void test_bridges(void)
{
    struct sated_drive *d = watched(ATA);
    ruin(d, SATED_FAULT_NO_ERASE, 0, -1, 0, 0);
    CHECK(purge_by(d, SECURITY) < 0);
    CHECK_TEXT(told(-1), "is off again");
    CHECK(!ata_identity(d)->security.enabled);
    CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);
    CHECK_EQ(sated_sim_clear_faults(d), 0);

    ruin(d, SATED_FAULT_NO_REGISTERS, 0, -1, 0, 0);
    n_sent = 0;
    REFUSED(purge_by(d, BLOCK), SATED_UNSUPPORTED, "no registers come back");
    REFUSED(purge_by(d, AUTO), SATED_UNSUPPORTED, "no registers come back");
    CHECK_EQ(times(0xf1) + times(0x35) + times(0xca), 0);
    CHECK_EQ(sated_sim_clear_faults(d), 0);

    /* Fixed format cuts COUNT 15:8 (SAT-4, "Fixed format sense data"), where a sanitize tells that it goes on or ended. */
    ruin(d, SATED_FAULT_FIXED_SENSE, 0, -1, 0, 0);
    n_sent = 0;
    REFUSED(purge_by(d, BLOCK), SATED_UNSUPPORTED, "come back cut");
    CHECK_EQ(purge_by(d, AUTO), 0);
    CHECK_EQ(outcome.method, ENHANCED);
    sated_drive_close(d);
}

/* Behind such a bridge a sanitize that goes on, or failed, tells of itself by nothing but reads that are aborted
 * (ACS-4 4.17.9). */
static void test_unclear(void)
{
    static const uint32_t bridges[] = {SATED_FAULT_FIXED_SENSE, SATED_FAULT_NO_REGISTERS};
    for (size_t i = 0; i < 4; i++) {
        bool cut = i % 2 == 0, fails = i >= 2;
        struct sated_ata_command c;
        struct sated_drive *d = watched(ATA);
        if (fails)
            ruin(d, SATED_FAULT_OPERATION_FAILS, 0, -1, 1, 0);
        ruin(d, bridges[i % 2], 0, -1, 0, 0);
        CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);
        CHECK_EQ(sated_ata_build_sanitize_block_erase(&c, false, false), 0);
        sated_ata_raw(d, &c, NULL, NULL, NULL); /* of which a bridge without registers has nothing to tell */
        CHECK_EQ(pending(d, "it does not read, as while a sanitize operation goes on"), SATED_PURGE_UNCLEAR);
        REFUSED(purge_by(d, AUTO), SATED_STATE, "attach the drive to a SATA port");
        if (fails && cut) {
            REFUSED(resume(d), SATED_STALLED, "what keeps it from reading has made no progress");
        } else if (cut) { /* once it reads, another method goes on */
            CHECK_EQ(resume(d), 0);
            CHECK_EQ(outcome.method, ENHANCED);
        } else {
            REFUSED(resume(d), SATED_UNSUPPORTED, "no registers come back");
            CHECK_EQ(sated_drive_sleep(d, 600 * SECOND), 0);
        }
        CHECK_EQ(pending(d, ""), fails ? SATED_PURGE_UNCLEAR : SATED_PURGE_NOTHING);
        sated_drive_close(d);
    }
}

/* A block that cannot be corrected is read, whichever way the bridge tells of it. */
static void test_uncorrectable(void)
{
    static const uint32_t bridges[] = {SATED_FAULT_FIXED_SENSE, SATED_FAULT_NO_REGISTERS};
    for (size_t i = 0; i < 2; i++) {
        struct sated_drive *d = watched(ATA);
        struct sated_sim_fault f;
        sated_sim_fault_init(&f);
        f.kind = SATED_FAULT_FAIL;
        f.opcode = 0xc8; /* READ DMA */
        f.ata_error = 0x40;
        ruin(d, bridges[i], 0, -1, 0, 0);
        CHECK_EQ(sated_sim_fail(d, &f), 0);
        CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);
        CHECK_EQ(times(0xc8), 1);
        sated_drive_close(d);
    }
}

/* An erase that gives no answer: what is told of the command says also how to go on. */
static void test_no_answer(void)
{
    struct sated_drive *d = watched(ATA);
    ruin(d, SATED_FAULT_STALL, 0, -1, 0, 0);
    CHECK(purge_by(d, SECURITY) < 0);
    CHECK_TEXT(told(-1), "SECURITY ERASE UNIT");
    CHECK_TEXT(told(-1), "--resume` finishes it");
    sated_drive_close(d);
}

/* Once it has erased itself, it answers IDENTIFY DEVICE no more. */
static int mute(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    if (opcode_of(c) == 0xec && times(0xf4))
        return error_set(-EIO, SATED_LAYER_DRIVE, "%s: no answer", d->path);
    return watch(d, c, reply);
}

static const struct command_face muting = {.send = mute};

static void test_no_identity(void)
{
    struct sated_drive *d = watched(ATA);
    d->face = &muting;
    CHECK_EQ(purge_by(d, SECURITY), -EIO);
    CHECK_TEXT(told(-1),
               "SECURITY ERASE UNIT ended without an error, but the drive does not tell whether its password");
    CHECK_TEXT(told(-1), "--resume`");
    d->face = &watching;
    CHECK_EQ(resume(d), 0);
    sated_drive_close(d);
}

/* ---- A locked drive by its words alone (IDENTIFY of openSeaChest's issue 48; hdparm 9.65 decodes them to 196 min) ---- */

struct words {
    uint16_t w[256];
    uint32_t erase_timeout_ms;
    unsigned set_passwords;
    bool unlocked, erased;
};

static void answer_registers(struct sated_reply *reply, uint8_t status, uint8_t error, uint16_t count)
{
    const uint8_t sense[22] = {0x72,           1, 0, 0x1d, 0, 0, 0, 14,   9,     12, 0, error, (uint8_t)(count >> 8),
                               (uint8_t)count, 0, 0, 0,    0, 0, 0, 0x40, status};
    memcpy(reply->sense, sense, sizeof sense);
    reply->sense_len = sizeof sense;
    reply->scsi_status = 2;
    reply->driver_status = 8;
}

static int by_words(void *user, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    struct words *s = user;
    uint8_t *bytes = data, command = c->cdb[0] == 0x85 ? c->cdb[14] : 0;
    bool locked = s->w[128] & 4, right = data && !memcmp(bytes + 2, "right", 6);
    bool fails = false;
    switch (command) {
    case 0xec:
        for (size_t i = 0; i < 256; i++)
            bytes_put_le16(bytes + 2 * i, s->w[i]);
        return 0;
    case 0xf1: s->set_passwords++; break;
    case 0xf2:
        fails = !right;
        s->w[128] = (uint16_t)(right ? s->w[128] & ~4 : s->w[128]);
        break;
    case 0xf4:
        fails = !right;
        s->erase_timeout_ms = c->timeout_ms;
        s->erased = right;
        s->w[128] = (uint16_t)(right ? s->w[128] & ~6 : s->w[128]);
        break;
    case 0xb4: break;
    case 0xe5:
    case 0xf3:
    case 0xea: break;
    case 0x25:
    case 0x35:
    case 0xc8:
    case 0xca:
        if (locked) {
            fails = true;
            break;
        }
        return 0;
    default: fails = true;
    }
    answer_registers(reply, fails ? 0x51 : 0x50, fails ? 4 : 0, command == 0xb4 ? 0x8000 : 0);
    return 0;
}

static struct sated_drive *open_words(struct words *s)
{
    struct sated_transport t;
    struct sated_drive *d;
    sated_transport_init(&t);
    t.protocol = SATED_PROTOCOL_ATA;
    t.simulated = true;
    t.user = s;
    t.scsi = by_words;
    CHECK_EQ(sated_drive_open_transport(&d, "words", &t), 0);
    return d;
}

static void test_words(void)
{
    struct words s = {.w = {[0] = 0x40,
                            [49] = 0x0300,
                            [59] = 0x5000,
                            [60] = 0xffff,
                            [61] = 0x0fff,
                            [82] = 0x0002,
                            [83] = 0x4400,
                            [84] = 0x4000,
                            [85] = 0x0002,
                            [86] = 0x0400,
                            [87] = 0x4000,
                            [89] = 0x0062,
                            [90] = 0x0062,
                            [92] = 0xfffe,
                            [102] = 1,
                            [128] = 0x0027}};
    struct sated_purge_way ways[SATED_PURGE_LAST], way;
    struct sated_drive *d = open_words(&s);
    CHECK_EQ(sated_purge_list(d, ways, SATED_PURGE_LAST), SATED_PURGE_LAST);
    CHECK_EQ(ways[ENHANCED - 1].estimate_ns, 196 * 60 * SECOND);
    CHECK_EQ(ways[SECURITY - 1].estimate_ns, 196 * 60 * SECOND);
    CHECK(!ways[OVER - 1].supported && !ways[BLOCK - 1].supported);
    CHECK_TEXT(ways[OVER - 1].why_not, "locked");
    want(AUTO);
    REFUSED(sated_purge_check(d, &options, &way), SATED_LOCKED, "it is locked by a user password, level high");
    REFUSED(purge(d), SATED_LOCKED, "0027h");
    want(AUTO);
    give("wrong", false);
    REFUSED(purge(d), SATED_LOCKED, "does not fit");
    CHECK(!s.erased);
    give("right", false);
    options.canaries = 2;
    CHECK_EQ(sated_purge_check(d, &options, &way), 0);
    CHECK_EQ(way.method, ENHANCED);
    PURGED(d);
    CHECK(s.erased);
    CHECK_EQ(s.set_passwords, 0);
    CHECK(s.erase_timeout_ms >= 392 * 60 * 1000);
    sated_drive_close(d);

    /* The same drive, unlocked, behind a USB bridge. */
    s.w[59] = 0;
    d = open_words(&s);
    snprintf(d->identity.transport, sizeof d->identity.transport, "usb");
    REFUSED(purge_by(d, ENHANCED), SATED_UNSAFE, "--allow-usb-security");
    REFUSED(purge_by(d, AUTO), SATED_UNSAFE, "--allow-usb-security");
    CHECK_EQ(s.set_passwords, 0);
    want(AUTO);
    options.allow_usb_security = 1;
    CHECK_EQ(sated_purge_check(d, &options, &way), 0);
    CHECK_EQ(way.method, ENHANCED);
    sated_drive_close(d);
}

/* ---- Failures, stalls, stopping ---- */

static void test_failures(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct sated_drive *d = open_drive(uris[i]);
        ruin(d, SATED_FAULT_OPERATION_FAILS, 0, -1, 1, 0);
        CHECK(purge_by(d, BLOCK) < 0);
        CHECK_TEXT(told(-1), "the sanitize operation failed");
        CHECK_EQ(pending(d, "a sanitize operation failed"), SATED_PURGE_FAILED);
        REFUSED(purge_by(d, BLOCK), SATED_STATE, "--resume");
        CHECK_EQ(resume(d), 0);
        CHECK_EQ(outcome.method, BLOCK);
        CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
        CHECK_EQ(mapped(d), 0);
        CHECK_EQ(pending(d, ""), SATED_PURGE_NOTHING);

        /* One that somebody else started in the restricted mode: only another one in that mode leads out. */
        struct sated_nvme_command n;
        struct sated_ata_command a;
        struct sated_scsi_command s;
        ruin(d, SATED_FAULT_OPERATION_FAILS, 0, -1, 1, 0);
        if (i == 0) {
            CHECK_EQ(sated_ata_build_sanitize_block_erase(&a, false, false), 0);
            CHECK_EQ(sated_ata_raw(d, &a, NULL, NULL, NULL), 0);
        } else if (i == 1) {
            CHECK_EQ(sated_scsi_build_sanitize(&s, SATED_SANITIZE_BLOCK_ERASE, true, false, false, 0), 0);
            CHECK_EQ(command_ask(d, &s, NULL, NULL), 0);
        } else {
            CHECK_EQ(sated_nvme_build_sanitize(&n, SATED_NVME_SANACT_BLOCK_ERASE, false, 0, false, 0, false, false), 0);
            CHECK_EQ(sated_nvme_admin_raw(d, &n, NULL, NULL), 0);
        }
        CHECK_EQ(sated_drive_sleep(d, 600 * SECOND), 0);
        CHECK_EQ(pending(d, "a sanitize operation failed"), SATED_PURGE_FAILED);
        int rc = resume(d);
        if (rc)
            printf("%s\n", told(rc));
        CHECK_EQ(rc, 0);
        CHECK_EQ(outcome.canaries, 0); /* nothing could be marked */
        CHECK_EQ(mapped(d), 0);
        sated_drive_close(d);
    }
    for (size_t i = 1; i < 3; i++) {
        struct sated_drive *d = open_drive(uris[i]);
        ruin(d, SATED_FAULT_OPERATION_FAILS, 0, -1, 1, 0);
        CHECK(purge_by(d, FORMAT) < 0);
        CHECK_EQ(pending(d, "a format of it"), i == 1 ? SATED_PURGE_UNFORMATTED : SATED_PURGE_UNFORMATTED);
        CHECK_EQ(resume(d), 0);
        CHECK_EQ(outcome.method, FORMAT);
        CHECK_EQ(mapped(d), 0);
        sated_drive_close(d);
    }
}

static void test_stalls(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct sated_drive *d = open_drive(uris[i]);
        int64_t begin = sated_drive_now_ns(d);
        ruin(d, SATED_FAULT_STALL, 0, -1, 0, 0);
        want(BLOCK);
        options.stall_ns = 3600 * SECOND;
        REFUSED(purge(d), SATED_STALLED, "no progress");
        CHECK(sated_drive_now_ns(d) - begin >= 3600 * SECOND); /* by its own clock */
        CHECK_EQ(pending(d, "goes on in it"), SATED_PURGE_RUNNING);
        REFUSED(purge_by(d, BLOCK), SATED_STATE, "--resume");
        CHECK_EQ(sated_sim_clear_faults(d), 0);
        CHECK_EQ(resume(d), 0);
        CHECK_EQ(outcome.resumed, 1);
        CHECK_EQ(outcome.canaries, 64);
        CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
        sated_drive_close(d);
    }
}

static void test_stop(void)
{
    struct sated_drive *d = open_drive(NVME);
    struct sated_purge *p;
    struct sated_purge_progress progress;
    ruin(d, SATED_FAULT_STALL, 0, -1, 0, 0);
    want(BLOCK);
    options.stall_ns = INT64_C(1) << 60;
    CHECK_EQ(sated_purge_start(&p, d, &options), 0);
    do {
        CHECK_EQ(sated_purge_wait(p, 1000000, NULL), 1);
        sated_purge_get_progress(p, &progress);
    } while (progress.phase != SATED_PURGE_ERASING);
    CHECK_EQ(progress.method, BLOCK);
    REFUSED(sated_drive_close(d), SATED_STATE, "while a purge runs on it");
    REFUSED(sated_drive_sleep(d, 1), SATED_STATE, "while a purge runs on it");
    struct sated_purge *second;
    REFUSED(sated_purge_start(&second, d, NULL), SATED_STATE, "while a purge runs on it");
    sated_purge_stop(p);
    REFUSED(sated_purge_wait(p, -1, &outcome), SATED_STATE, "was stopped");
    sated_purge_get_progress(p, &progress);
    CHECK_EQ(progress.phase, SATED_PURGE_ENDED);
    CHECK(progress.elapsed_ns > 0);
    sated_purge_free(p);
    CHECK_EQ(sated_sim_clear_faults(d), 0);
    CHECK_EQ(resume(d), 0);
    sated_drive_close(d);
}

/* ---- What is verified ---- */

static void test_canaries(void)
{
    /* A drive that says that it did what it did not. */
    struct sated_drive *d = watched(ATA);
    swallows = 0x06; /* DATA SET MANAGEMENT */
    CHECK_EQ(purge_by(d, DEAL), 0);
    CHECK_EQ(outcome.done, 1);
    CHECK_EQ(outcome.verified, SATED_PURGE_STILL_THERE);
    CHECK_EQ(outcome.still_there, 64);
    CHECK_TEXT(outcome.text, "the drive is not erased");
    sated_drive_close(d);

    /* What cannot be read counts as gone: the reads that follow the 64 of before. */
    d = open_drive(SAS);
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = SATED_FAULT_FAIL;
    f.after = 64;
    f.count = 5;
    f.opcode = 0x88; /* READ(16) */
    f.key = 3;
    f.asc = 0x11;
    CHECK_EQ(sated_sim_fail(d, &f), 0);
    CHECK_EQ(purge_by(d, BLOCK), 0);
    CHECK_EQ(outcome.canaries, 64);
    CHECK_EQ(outcome.unreadable, 5);
    CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
    CHECK_TEXT(outcome.text, "(5 cannot be read)");
    sated_drive_close(d);

    d = open_drive(NVME);
    want(BLOCK);
    options.canaries = 0;
    CHECK_EQ(purge(d), 0);
    CHECK_EQ(outcome.verified, SATED_PURGE_NOT_VERIFIED);
    CHECK_TEXT(outcome.text, "Nothing verifies that");
    options.canaries = 65;
    REFUSED(purge(d), SATED_PARSE, "65 canaries");
    sated_drive_close(d);
}

/* Eight sectors behind an HPA: the normal erase does not reach them. */
static void test_hidden(void)
{
    struct sated_drive *d = open_drive(ATA);
    struct sated_ata_command c;
    struct sated_ata_registers r;
    struct sated_ata_native_max max;
    CHECK_EQ(sated_ata_build_read_native_max(&c, true), 0);
    CHECK_EQ(sated_ata_raw(d, &c, NULL, &r, NULL), 0);
    CHECK_EQ(sated_ata_decode_native_max(&r, &max), 0);
    CHECK_EQ(sated_ata_build_set_max(&c, true, max.max_lba - 8, true), 0);
    CHECK_EQ(sated_ata_raw(d, &c, NULL, NULL, NULL), 0);
    CHECK_EQ(purge_by(d, SECURITY), 0);
    CHECK_EQ(outcome.hidden_bytes, 4096);
    CHECK_TEXT(outcome.text, "Hidden area: 4096 B, which this method does not reach");
    sated_drive_close(d);
}

static void test_external(void)
{
    struct sated_drive *d = watched(NVME);
    REFUSED(purge_by(d, SATED_PURGE_EXTERNAL), SATED_PARSE, "--external");
    n_sent = 0;
    want(SATED_PURGE_EXTERNAL);
    snprintf(options.note, sizeof options.note, "ToolBox 2.1, by hand");
    CHECK_EQ(purge(d), 0);
    CHECK_EQ(times(SATED_NVME_ADMIN_SANITIZE) + times(SATED_NVME_ADMIN_FORMAT), 0);
    CHECK_EQ(outcome.done, 0);
    CHECK_EQ(outcome.verified, SATED_PURGE_NOT_VERIFIED);
    CHECK_TEXT(outcome.text, "recorded as told: ToolBox 2.1, by hand");
    sated_drive_close(d);
}

/* Programs that were built for a smaller struct. */
static void test_options(void)
{
    struct sated_drive *d = open_drive(NVME);
    struct sated_purge *p;
    want(AUTO);
    options.size = 8;
    CHECK_EQ(sated_purge_start(&p, d, &options), 0);
    CHECK_EQ(sated_purge_wait(p, -1, &outcome), 0);
    CHECK_EQ(outcome.canaries, 64);
    sated_purge_free(p);
    options.size = 4096;
    REFUSED(sated_purge_start(&p, d, &options), SATED_PARSE, "sated_purge_options_init()");
    sated_drive_close(d);
}

/* What would be left out of account is refused, before a command is sent. */
static void test_meaningless(void)
{
    static const uint32_t no_usb[] = {BLOCK, CRYPTO, OVER, DEAL}, no_stall[] = {SECURITY, ENHANCED, DEAL};
    struct sated_drive *d = watched(ATA);
    for (size_t i = 0; i < 4; i++) {
        want(no_usb[i]);
        options.allow_usb_security = 1;
        REFUSED(purge(d), SATED_PARSE, "allow_usb_security (--allow-usb-security) has no meaning");
    }
    for (size_t i = 0; i < 3; i++) {
        want(no_stall[i]);
        options.stall_ns = SECOND;
        REFUSED(purge(d), SATED_PARSE, "a limit of stalling (--stall) has no meaning");
    }
    want(SATED_PURGE_EXTERNAL);
    snprintf(options.note, sizeof options.note, "ToolBox");
    options.resume = 1;
    REFUSED(purge(d), SATED_PARSE, "resume has no meaning for a purge by the method external");
    options.resume = 0;
    give("right", false);
    REFUSED(purge(d), SATED_PARSE, "a password has no meaning");
    want(AUTO);
    options.master = 1;
    REFUSED(purge(d), SATED_PARSE, "master, without a password,");
    want(AUTO);
    snprintf(options.note, sizeof options.note, "ToolBox");
    REFUSED(purge(d), SATED_PARSE, "a note has no meaning for a purge by the method auto");
    CHECK_EQ(n_sent, 0);
    sated_drive_close(d);
    for (size_t i = 1; i < 3; i++) {
        d = watched(uris[i]);
        want(AUTO);
        give("right", false);
        REFUSED(purge(d), SATED_PARSE, "it is no ATA drive");
        want(AUTO);
        options.allow_usb_security = 1;
        REFUSED(purge(d), SATED_PARSE, "it is no ATA drive");
        CHECK_EQ(n_sent, 0);
        sated_drive_close(d);
    }
}

int main(void)
{
    test_methods();
    test_order();
    test_narrow();
    test_bits();
    test_frozen();
    test_locked();
    test_locked_capacity();
    test_bridges();
    test_unclear();
    test_uncorrectable();
    test_no_answer();
    test_no_identity();
    test_words();
    test_failures();
    test_stalls();
    test_stop();
    test_canaries();
    test_hidden();
    test_external();
    test_options();
    test_meaningless();
    return check_done();
}
