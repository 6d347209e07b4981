/* SPDX-License-Identifier: MIT */
/* The simulated ATA drive's state machines: security, sanitize, HPA, AMAC, DCO, as ACS-4, ACS-2 and ATA8-ACS have them. */
#include <unistd.h>

#include "ata_drive.h"

static uint64_t all; /* sectors */

static void check_identify(void)
{
    struct sated_identity o;
    identify();
    CHECK_EQ(sated_drive_get_identity(drive, &o), 0);
    all = id.capacity.sectors;
    CHECK_EQ(id.capacity.bytes, o.capacity_bytes);
    CHECK_EQ(id.capacity.physical_block_bytes, 4096);
    CHECK(!strcmp(id.serial, o.serial));
    CHECK(!strcmp(id.model, "SanDisk X210 256GB (simulated)"));
    CHECK_EQ(id.wwn >> 60, 5);
    CHECK_EQ(id.rotation_rpm, 0);
    CHECK(id.known && id.security.supported && id.security.enhanced_erase && !id.security.enabled);
    CHECK_EQ(id.security.master_revision, 0xfffe);
    CHECK_EQ(id.security.erase_minutes, 2);
    CHECK(id.sanitize.supported && id.sanitize.block_erase && id.sanitize.overwrite && id.sanitize.crypto_scramble);
    CHECK(id.areas.hpa_supported && id.areas.dco_supported && id.areas.set_max_security && !id.areas.amac_supported);
    CHECK(id.trim.supported && id.trim.deterministic && id.trim.zeroed && id.trim.max_blocks == 8);
    CHECK(id.link.ncq && id.link.queue_depth == 32 && id.link.speed_current == 3);
    CHECK(id.settings.write_cache_enabled && id.settings.look_ahead_enabled && id.settings.smart_enabled);
}

/* Each way to read and write reaches the same sectors. */
static void check_io(void)
{
    for (int dma = 0; dma < 2; dma++)
        for (int ext = 0; ext < 2; ext++) {
            memset(page, 0x40 + 2 * dma + ext, 8 * 512);
            CHECK_EQ(ATA(write, 100, 8, 512, dma, ext), 0);
            for (int other = 0; other < 4; other++) {
                memset(page, 0, 8 * 512);
                CHECK_EQ(ATA(read, 100, 8, 512, other & 1, other >> 1), 0);
                CHECK(page[0] == 0x40 + 2 * dma + ext && page[4095] == page[0]);
            }
        }
    memset(page, 0x99, 512);
    cmd = (struct sated_ata_command){.command = 0x61,
                                     .device = 0xc0,
                                     .protocol = SATED_ATA_FPDMA,
                                     .ext = 1,
                                     .direction = SATED_ATA_OUT,
                                     .features = 1,
                                     .lba = 103,
                                     .data_len = 512};
    CHECK_EQ(send_ata(0), 0);
    CHECK(holds(103, 1, 0x99));
    /* Beyond the end: IDNF at the first sector that is not there (ACS-4 7.20.5). */
    CHECK_EQ(ATA(read, all - 1, 2, 512, true, true), SATED_ATA);
    CHECK_EQ(regs.error, 0x10);
    CHECK_EQ(regs.lba, all);
    CHECK_EQ(ATA(write, all, 1, 512, true, true), SATED_ATA);
    CHECK_EQ(ATA(flush_cache, true), 0);
    cmd.command = 0x92; /* DOWNLOAD MICROCODE */
    cmd.data_len = 0;
    CHECK_EQ(send_ata(0), SATED_ATA);
    CHECK_EQ(regs.error, 0x04);
    /* TRIM: whole units lose their page, and all of it reads as zeros. */
    uint64_t before = mapped();
    fill(4096, 64, 0x31);
    CHECK_EQ(mapped(), before + 8);
    struct sated_ata_range range = {.lba = 4096 + 4, .sectors = 56};
    int n = sated_ata_build_trim_list(page, sizeof page, &range, 1);
    CHECK_EQ(n, 512);
    CHECK_EQ(ATA(trim, 1), 0);
    CHECK_EQ(mapped(), before + 2);
    CHECK(holds(4096, 4, 0x31) && holds(4100, 56, 0) && holds(4156, 4, 0x31));
    range = (struct sated_ata_range){.lba = all - 1, .sectors = 2};
    sated_ata_build_trim_list(page, sizeof page, &range, 1);
    CHECK_EQ(ATA(trim, 1), SATED_ATA);
    CHECK_EQ(regs.error, 0x10);
}

static bool state_is(bool enabled, bool locked, bool frozen, bool expired)
{
    identify();
    return id.security.enabled == enabled && id.security.locked == locked && id.security.frozen == frozen &&
           id.security.count_expired == expired;
}

static void check_security(void)
{
    fill(0, 8, 0x11);
    CHECK_EQ(ATA(flush_cache, true), 0);
    /* Nothing is set: neither a user password nor its erase can be right. */
    CHECK_EQ(security(0xf2, "a", false, false), SATED_ATA);
    CHECK_EQ(security(0xf6, "a", false, false), SATED_ATA);
    CHECK_EQ(security(0xf1, "user", false, false), 0);
    CHECK(state_is(true, false, false, false)); /* unlocked until power-on */
    CHECK(holds(0, 8, 0x11));
    CHECK_EQ(security(0xf1, "master", true, false), 0);
    CHECK_EQ(identify()->security.master_revision, 7);
    cycle();
    CHECK(state_is(true, true, false, false));
    CHECK(!holds(0, 8, 0x11));
    CHECK_EQ(regs.error, 0x04);
    CHECK_EQ(CDB(SATED_DATA_IN, 4096, 0x28, 0, 0, 0, 0, 0, 0, 0, 8, 0), SATED_SENSE);
    CHECK_EQ(reply.sense[2], 0x0b);
    CHECK_EQ(ATA(security_freeze_lock), SATED_ATA);
    CHECK_EQ(security(0xf1, "other", false, false), SATED_ATA);
    CHECK_EQ(security(0xf6, "user", false, false), SATED_ATA);
    CHECK_EQ(ATA(flush_cache, true), SATED_ATA);
    CHECK_EQ(ATA(smart_return_status), 0);
    CHECK_EQ(ATA(read_native_max, true), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(security(0xf2, "wrong", false, false), SATED_ATA);
    CHECK(state_is(true, true, false, false));
    CHECK_EQ(security(0xf2, "wrong", true, false), SATED_ATA);
    CHECK(state_is(true, true, false, true));
    CHECK_EQ(security(0xf2, "user", false, false), SATED_ATA); /* even the right one */
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "user", false, false), SATED_ATA);
    cycle();
    CHECK(state_is(true, true, false, false));
    CHECK_EQ(security(0xf2, "master", true, false), 0);
    CHECK(state_is(true, false, false, false));
    CHECK(holds(0, 8, 0x11));
    for (int i = 0; i < 6; i++) /* counts only while locked */
        CHECK_EQ(security(0xf2, "wrong", false, false), SATED_ATA);
    CHECK(state_is(true, false, false, false));
    /* Level maximum: the master password cannot open, only erase. */
    CHECK_EQ(security(0xf1, "user", false, true), 0);
    CHECK_EQ(identify()->security.level, 1);
    cycle();
    CHECK_EQ(security(0xf2, "master", true, false), SATED_ATA);
    CHECK_EQ(security(0xf2, "user", false, false), 0);
    CHECK_EQ(security(0xf6, "master", true, false), SATED_ATA);
    CHECK_EQ(ATA(security_freeze_lock), 0);
    CHECK(state_is(true, false, true, false));
    CHECK_EQ(security(0xf6, "user", false, false), SATED_ATA);
    CHECK_EQ(security(0xf1, "user", false, false), SATED_ATA);
    CHECK_EQ(ATA(security_erase_prepare), SATED_ATA);
    cycle();
    CHECK(state_is(true, true, false, false));
    /* ERASE PREPARE directly before. */
    CHECK_EQ(ATA(security_erase_prepare), 0);
    identify();
    CHECK_EQ(security(0xf4, "master", true, false), SATED_ATA);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "wrong", false, false), SATED_ATA);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    int64_t start = sated_drive_now_ns(drive);
    CHECK_EQ(security(0xf4, "master", true, false), 0);
    CHECK(sated_drive_now_ns(drive) - start > 100000000); /* 8 s of the whole drive */
    CHECK(state_is(false, false, false, false));
    CHECK_EQ(id.security.level, 0);
    CHECK_EQ(id.security.master_revision, 7);
    CHECK_EQ(mapped(), 0);
    CHECK(holds(0, 8, 0));
    /* The new password is what DISABLE wants. */
    CHECK_EQ(security(0xf1, "x", false, false), 0);
    CHECK_EQ(security(0xf6, "y", false, false), SATED_ATA);
    CHECK_EQ(security(0xf6, "x", false, false), 0);
    CHECK(state_is(false, false, false, false));
}

static void erase(bool enhanced)
{
    CHECK_EQ(security(0xf1, "p", false, false), 0);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "p", false, enhanced), 0);
}

static uint64_t native(bool ext)
{
    struct sated_ata_native_max n;
    CHECK_EQ(ATA(read_native_max, ext), 0);
    CHECK_EQ(sated_ata_decode_native_max(&regs, &n), 0);
    return n.sectors;
}

static int set_max(uint64_t sectors, bool keep, bool ext)
{
    CHECK_EQ(native(ext), all);
    return ATA(set_max, ext, sectors - 1, keep);
}

static uint64_t sectors_now(void)
{
    struct sated_identity o;
    CHECK_EQ(sated_drive_get_identity(drive, &o), 0);
    CHECK_EQ(identify()->capacity.bytes, o.capacity_bytes);
    return id.capacity.sectors;
}

static void check_hpa(void)
{
    uint64_t half = all / 2 / 8 * 8;
    fill(0, 8, 0x21);
    fill(all - 8, 8, 0x22);
    CHECK_EQ(ATA(flush_cache, true), 0);
    CHECK_EQ(ATA(set_max, true, half - 1, true), SATED_ATA); /* not right after READ NATIVE MAX */
    CHECK_EQ(set_max(half, false, true), 0);
    CHECK_EQ(sectors_now(), half);
    CHECK(!holds(half, 1, 0));
    CHECK_EQ(regs.error, 0x10);
    CHECK_EQ(CDB(SATED_DATA_IN, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
    CHECK_EQ(page[0] << 24 | page[1] << 16 | page[2] << 8 | page[3], (int)(half - 1));
    cycle(); /* it was not to stay */
    CHECK_EQ(sectors_now(), all);
    CHECK_EQ(set_max(half, true, true), 0);
    CHECK_EQ(set_max(half / 2, true, true), SATED_ATA); /* once in a power cycle */
    CHECK_EQ(regs.error, 0x10);
    CHECK_EQ(set_max(half / 2, false, true), 0); /* the volatile one as often as one likes */
    CHECK_EQ(sectors_now(), half / 2);
    CHECK_EQ(set_max(half, false, false), SATED_ATA); /* the other form made it */
    cycle();
    CHECK_EQ(sectors_now(), half);
    CHECK_EQ(set_max(all + 1, true, true), SATED_ATA);
    /* DCO is refused under HPA, but for looking. */
    CHECK_EQ(ATA(dco_restore), SATED_ATA);
    CHECK_EQ(ATA(dco_identify), 0);
    /* A normal erase stays within what can be addressed; an enhanced one does not. */
    erase(false);
    CHECK_EQ(mapped(), 1);
    CHECK_EQ(set_max(all, false, true), 0);
    CHECK(holds(0, 8, 0) && holds(all - 8, 8, 0x22));
    CHECK_EQ(set_max(half, false, true), 0);
    erase(true);
    CHECK_EQ(mapped(), 0);
    cycle();
    CHECK_EQ(set_max(all, true, true), 0);
    CHECK_EQ(sectors_now(), all);
    CHECK(holds(all - 8, 8, 0));
    /* 28 bits */
    CHECK_EQ(set_max(half, false, false), 0);
    CHECK_EQ(sectors_now(), half);
    cycle();
    CHECK_EQ(sectors_now(), all);
}

static int max_data(const char *password)
{
    return sated_ata_build_set_max_data(page, sizeof page, password, strlen(password));
}

static void check_max_lock(void)
{
    CHECK_EQ(ATA(set_max_lock), SATED_ATA); /* no password yet */
    max_data("one");
    CHECK_EQ(ATA(set_max_password), 0);
    CHECK_EQ(identify()->areas.set_max_locked, 1);
    CHECK_EQ(set_max(all / 2, false, true), 0);
    CHECK_EQ(ATA(set_max_lock), 0);
    CHECK_EQ(set_max(all / 4, false, true), SATED_ATA);
    max_data("two");
    CHECK_EQ(ATA(set_max_unlock), SATED_ATA);
    max_data("one");
    CHECK_EQ(ATA(set_max_unlock), 0);
    CHECK_EQ(set_max(all / 4, false, true), 0);
    CHECK_EQ(ATA(set_max_lock), 0);
    for (int i = 0; i < 5; i++) {
        max_data("two");
        CHECK_EQ(ATA(set_max_unlock), SATED_ATA);
    }
    max_data("one");
    CHECK_EQ(ATA(set_max_unlock), SATED_ATA);
    CHECK_EQ(ATA(set_max_freeze_lock), 0);
    CHECK_EQ(ATA(set_max_freeze_lock), SATED_ATA);
    cycle();
    CHECK_EQ(identify()->areas.set_max_locked, 0);
    CHECK_EQ(set_max(all, false, true), 0);
}

static void check_dco(void)
{
    struct sated_ata_dco dco;
    uint8_t answer[512];
    uint64_t half = all / 2 / 8 * 8;
    CHECK_EQ(ATA(dco_identify), 0);
    memcpy(answer, page, 512);
    CHECK_EQ(sated_ata_decode_dco(answer, 512, &dco), 0);
    CHECK_EQ(dco.checksum, SATED_ATA_CHECKSUM_OK);
    CHECK_EQ(dco.sectors, all);
    CHECK_EQ(sated_ata_build_dco_data(page, sizeof page, answer, 512, half - 1), 512);
    page[14] &= 0xfe; /* no SMART */
    page[511]++;
    CHECK_EQ(ATA(dco_set), 0);
    CHECK_EQ(sectors_now(), half);
    CHECK_EQ(id.settings.smart_supported, 0);
    CHECK_EQ(ATA(smart_return_status), SATED_ATA);
    CHECK_EQ(native(true), half);
    sated_ata_build_dco_data(page, sizeof page, answer, 512, half - 1);
    CHECK_EQ(ATA(dco_set), SATED_ATA); /* one on top of another */
    cycle();
    CHECK_EQ(sectors_now(), half);
    CHECK_EQ(ATA(dco_freeze_lock), 0);
    CHECK_EQ(ATA(dco_identify), SATED_ATA);
    CHECK_EQ(ATA(dco_restore), SATED_ATA);
    cycle();
    CHECK_EQ(ATA(dco_restore), 0);
    CHECK_EQ(sectors_now(), all);
    CHECK_EQ(id.settings.smart_supported, 1);
    sated_ata_build_dco_data(page, sizeof page, answer, 512, half - 1);
    page[511]++; /* a wrong checksum */
    CHECK_EQ(ATA(dco_set), SATED_ATA);
    CHECK_EQ(sectors_now(), all);
}

static void check_sanitize(void)
{
    struct sated_ata_sanitize_status s = sanitize_status(false);
    CHECK(!s.completed && !s.in_progress && !s.failed);
    fill(0, 64, 0x51);
    CHECK_EQ(ATA(flush_cache, true), 0);
    CHECK_EQ(set_max(all / 2, false, true), 0);
    CHECK_EQ(ATA(sanitize_block_erase, false, false), 0);
    s = sanitize_status(false);
    CHECK(s.in_progress && s.progress < 65535);
    uint32_t before = s.progress;
    CHECK_EQ(ATA(read, 0, 1, 512, true, true), SATED_ATA);
    CHECK_EQ(ATA(set_write_cache, false), SATED_ATA);
    CHECK_EQ(ATA(sanitize_crypto_scramble, false, false), SATED_ATA);
    identify();
    pass_s(0.05);
    s = sanitize_status(false);
    CHECK(s.in_progress && s.progress > before);
    before = s.progress;
    cycle(); /* it goes on from where it was (ACS-4 4.17.4) */
    s = sanitize_status(false);
    CHECK(s.in_progress && s.progress >= before && s.progress < before + 2000);
    CHECK(mapped() > 0);
    pass_s(8);
    s = sanitize_status(false);
    CHECK(s.completed && !s.in_progress);
    CHECK_EQ(mapped(), 0);
    CHECK(holds(0, 64, 0));
    /* OVERWRITE: two passes, the second inverts the first. */
    CHECK_EQ(ATA(sanitize_overwrite, 0x01234567, 2, true, false, false, false), 0);
    CHECK_EQ(sanitize_status(false).completed, 0);
    pass_s(1100); /* 256 GB at 500 MB/s, twice */
    CHECK_EQ(sanitize_status(false).completed, 1);
    CHECK_EQ(ATA(read, 7, 1, 512, true, true), 0);
    CHECK(page[0] == (uint8_t)~0x67 && page[3] == (uint8_t)~0x01);
    CHECK_EQ(ATA(sanitize_crypto_scramble, true, false), 0);
    pass_s(8);
    CHECK_EQ(sanitize_status(false).completed, 1);
    CHECK_EQ(mapped(), 0);
    /* Freeze and antifreeze, each until power-on. */
    CHECK_EQ(ATA(sanitize_freeze_lock), 0);
    s = sanitize_status(false);
    CHECK(s.frozen && !s.antifreeze);
    CHECK_EQ(ATA(sanitize_block_erase, false, false), SATED_ATA);
    sated_ata_decode_sanitize_status(&regs, &s);
    CHECK_EQ(s.reason, SATED_ATA_SANITIZE_FROZEN);
    CHECK_EQ(ATA(sanitize_antifreeze_lock), SATED_ATA);
    cycle();
    CHECK_EQ(ATA(sanitize_antifreeze_lock), 0);
    CHECK_EQ(ATA(sanitize_freeze_lock), SATED_ATA);
    s = sanitize_status(false);
    CHECK(s.antifreeze && !s.frozen);
    cycle();
    CHECK_EQ(sanitize_status(false).antifreeze, 0);
}

static void check_sanitize_failure(void)
{
    fill(0, 8, 0x61);
    CHECK_EQ(ATA(flush_cache, true), 0);
    for (int may_end = 0; may_end < 2; may_end++) {
        fault(SATED_FAULT_OPERATION_FAILS, -1, 1, 0);
        CHECK_EQ(ATA(sanitize_block_erase, may_end, false), 0);
        pass_s(8);
        struct sated_ata_sanitize_status s = sanitize_status(false);
        CHECK(s.failed && s.reason == SATED_ATA_SANITIZE_UNSUCCESSFUL);
        CHECK_EQ(ATA(read, 0, 1, 512, true, true), SATED_ATA);
        cycle();
        CHECK_EQ(sanitize_status(false).failed, 1);
        identify();
        CHECK_EQ(sanitize_status(true).failed, !may_end); /* FAILURE MODE */
        if (may_end)
            CHECK(holds(0, 8, 0x61));
        CHECK_EQ(ATA(sanitize_block_erase, false, false), 0);
        pass_s(8);
        CHECK_EQ(sanitize_status(false).completed, 1);
        CHECK(holds(0, 8, 0));
        fill(0, 8, 0x61);
        CHECK_EQ(ATA(flush_cache, true), 0);
    }
    CHECK_EQ(security(0xf1, "s", false, false), 0);
    cycle();
    CHECK_EQ(ATA(sanitize_block_erase, false, false), SATED_ATA); /* locked */
    CHECK_EQ(security(0xf2, "s", false, false), 0);
    CHECK_EQ(security(0xf6, "s", false, false), 0);
}

/* Power goes while it erases: part is gone, the password is not, and the same one ends it. */
static void check_cut_erase(void)
{
    fill(0, 8, 0x71);
    fill(all - 8, 8, 0x72);
    CHECK_EQ(ATA(flush_cache, true), 0);
    CHECK_EQ(security(0xf1, "c", false, false), 0);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    fault(SATED_FAULT_POWER_CUT, 0xf4, 1, SATED_FAULT_HALF);
    CHECK(security(0xf4, "c", false, false) < 0);
    CHECK(ATA(identify_device) < 0); /* no power */
    cycle();
    CHECK(state_is(true, true, false, false));
    CHECK_EQ(security(0xf2, "c", false, false), 0);
    CHECK(holds(0, 8, 0) && holds(all - 8, 8, 0x72));
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "c", false, false), 0);
    CHECK_EQ(mapped(), 0);
    /* One that fails answers so, and changes nothing. */
    CHECK_EQ(security(0xf1, "c", false, false), 0);
    fault(SATED_FAULT_OPERATION_FAILS, -1, 1, 0);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "c", false, false), SATED_ATA);
    CHECK(state_is(true, false, false, false));
    /* One that stalls is never answered, and the drive is busy until it is through. */
    fault(SATED_FAULT_STALL, -1, 0, 0);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "c", false, true), SATED_STALLED);
    CHECK_EQ(ATA(identify_device), SATED_STALLED);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    pass_s(8);
    CHECK(state_is(false, false, false, false));
}

static void check_amac(void)
{
    struct sated_ata_native_max n;
    open_drive(X210 ",max_address=amac");
    identify();
    CHECK(id.areas.amac_supported && !id.areas.hpa_supported && !id.areas.dco_supported);
    CHECK_EQ(ATA(read_native_max, true), SATED_ATA);
    CHECK_EQ(ATA(dco_identify), SATED_ATA);
    CHECK_EQ(ATA(get_native_max), 0);
    sated_ata_decode_native_max(&regs, &n);
    CHECK_EQ(n.sectors, all);
    CHECK_EQ(ATA(set_accessible_max, all), SATED_ATA);
    CHECK_EQ(ATA(set_accessible_max, all / 2 - 1), 0);
    CHECK_EQ(sectors_now(), all / 2);
    CHECK_EQ(ATA(set_accessible_max, all / 4 - 1), SATED_ATA); /* once in a power cycle */
    cycle();
    CHECK_EQ(sectors_now(), all / 2);
    CHECK_EQ(ATA(freeze_accessible_max), 0);
    CHECK_EQ(ATA(set_accessible_max, all - 1), SATED_ATA);
    cycle();
    CHECK_EQ(ATA(set_accessible_max, all - 1), 0);
    CHECK_EQ(sectors_now(), all);
    close_drive();
}

/* What a state file carries from one process to the next, where the power stays on. */
static void check_reopen(void)
{
    unlink(KEPT);
    open_drive(X210 ",state=" KEPT);
    fill(0, 8, 0x81);
    CHECK_EQ(set_max(all / 2, false, true), 0);
    CHECK_EQ(security(0xf1, "k", false, false), 0);
    CHECK_EQ(ATA(security_freeze_lock), 0);
    close_drive();
    open_drive("sim:" KEPT);
    CHECK(state_is(true, false, true, false));
    CHECK_EQ(sectors_now(), all / 2);
    CHECK(holds(0, 8, 0x81));
    cycle();
    CHECK(state_is(true, true, false, false));
    CHECK_EQ(sectors_now(), all);
    close_drive();
    unlink(KEPT);
    unlink(KEPT ".lock");
}

int main(void)
{
    open_drive(X210);
    check_identify();
    check_io();
    check_security();
    check_hpa();
    check_max_lock();
    check_dco();
    check_sanitize();
    check_sanitize_failure();
    check_cut_erase();
    close_drive();
    check_amac();
    check_reopen();
    return check_done();
}
