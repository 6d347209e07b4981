/* SPDX-License-Identifier: MIT */
/* What an answer says. Each layer is asked in its turn, from the kernel to the drive: what a higher one reports makes
 * everything below it meaningless. */
#include <errno.h>
#include <unistd.h>

#include "core/error.h"
#include "protocol/known_scsi.h"
#include "transport/command.h"

#define DRIVER_SENSE 8 /* the one driver status that is normal: there is sense data */
#define DRIVER_TIMEOUT 6
#define ATA_FAILED 0x21 /* STATUS: ERR and DF (ACS-5 6.3) */

/* SAM-6 5.3.1 */
enum {
    STATUS_GOOD = 0x00,
    STATUS_CHECK_CONDITION = 0x02,
    STATUS_CONDITION_MET = 0x04,
    STATUS_BUSY = 0x08,
    STATUS_INTERMEDIATE = 0x10,
    STATUS_INTERMEDIATE_MET = 0x14,
    STATUS_RESERVATION_CONFLICT = 0x18,
    STATUS_TASK_SET_FULL = 0x28,
    STATUS_ACA_ACTIVE = 0x30,
    STATUS_TASK_ABORTED = 0x40,
};

/* The host bytes of the kernel (include/scsi/scsi_status.h). */
static const struct {
    uint16_t host;
    int code;
    const char *name, *meaning;
} hosts[] = {
    {0x01, -ENODEV, "DID_NO_CONNECT", "it cannot be reached; see whether it is still there"},
    {0x02, -EAGAIN, "DID_BUS_BUSY", "the bus was busy all the time; try again"},
    {0x03, SATED_STALLED, "DID_TIME_OUT", ""},
    {0x04, -ENODEV, "DID_BAD_TARGET", "there is no such target; see whether it is still there"},
    {0x05, -EIO, "DID_ABORT", "it was aborted; look at the drive's state before you send it again"},
    {0x06, -EIO, "DID_PARITY", "the data was damaged on its way; check the cable"},
    {0x07, -EIO, "DID_ERROR", "the host adapter met an error; see the kernel's log"},
    {0x08, -EIO, "DID_RESET", "the bus was reset meanwhile; look at the drive's state before you send it again"},
    {0x09, -EIO, "DID_BAD_INTR", "the host adapter was confused; see the kernel's log"},
    {0x0a, -EIO, "DID_PASSTHROUGH", "the kernel forced the command through; see its log"},
    {0x0b, -EIO, "DID_SOFT_ERROR", "the host adapter gave up; try again"},
    {0x0c, -EAGAIN, "DID_IMM_RETRY", "the host adapter wants it again; try again"},
    {0x0d, -EAGAIN, "DID_REQUEUE", "the host adapter wants it again; try again"},
    {0x0e, -EIO, "DID_TRANSPORT_DISRUPTED", "the connection broke; look at the drive's state before you send it again"},
    {0x0f, -EIO, "DID_TRANSPORT_FAILFAST", "the connection is down; check cable and path"},
    {0x10, -EREMOTEIO, "DID_TARGET_FAILURE", "the drive failed it for good; do not try again"},
    {0x11, -EBUSY, "DID_NEXUS_FAILURE", "another host has it reserved; give the reservation up there first"},
    {0x12, -ENOSPC, "DID_ALLOC_FAILURE", "the drive has no space left behind its thin provisioning"},
    {0x13, -ENODATA, "DID_MEDIUM_ERROR", "the drive cannot read its medium there; look at its health"},
};

static int bad_host(const struct sated_drive *d, const struct command *c, uint16_t host, const char *text)
{
    size_t i = 0, n = sizeof hosts / sizeof *hosts;
    while (i < n && hosts[i].host != host)
        i++;
    if (i == n)
        return error_set(-EIO, SATED_LAYER_DRIVE,
                         "%s: %s failed with host status %02Xh, which this kernel does not name; see the kernel's log",
                         d->path, text, host);
    if (hosts[i].code == SATED_STALLED)
        return error_set(
            SATED_STALLED, SATED_LAYER_DRIVE,
            "%s: %s gave no answer within %u ms (host status 03h, DID_TIME_OUT); the drive may still be at "
            "it although the kernel has reset the link, so do not send it again, but ask the drive what "
            "it is doing",
            d->path, text, c->timeout_ms);
    return error_set(hosts[i].code, SATED_LAYER_DRIVE, "%s: %s failed (host status %02Xh, %s): %s", d->path, text, host,
                     hosts[i].name, hosts[i].meaning);
}

static int bad_driver(const struct sated_drive *d, const struct command *c, uint16_t driver, const char *text)
{
    if ((driver & 15) == DRIVER_TIMEOUT)
        return error_set(
            SATED_STALLED, SATED_LAYER_DRIVE,
            "%s: %s gave no answer within %u ms (driver status %02Xh); the drive may still be at it, so do "
            "not send it again, but ask the drive what it is doing",
            d->path, text, c->timeout_ms, driver);
    return error_set(-EIO, SATED_LAYER_DRIVE, "%s: %s failed (driver status %02Xh); see the kernel's log", d->path,
                     text, driver);
}

static int bad_status(const struct sated_drive *d, uint8_t status, const char *text)
{
    switch (status) {
    case STATUS_BUSY:
    case STATUS_TASK_SET_FULL:
    case STATUS_ACA_ACTIVE:
        return error_set(-EAGAIN, SATED_LAYER_DRIVE,
                         "%s: %s was turned away for now (SCSI status %02Xh, %s); try again", d->path, text, status,
                         status == STATUS_BUSY            ? "BUSY"
                         : status == STATUS_TASK_SET_FULL ? "TASK SET FULL"
                                                          : "ACA ACTIVE");
    case STATUS_RESERVATION_CONFLICT:
        return error_set(-EBUSY, SATED_LAYER_DRIVE,
                         "%s: %s was refused: another host has the drive reserved (SCSI status 18h); give the "
                         "reservation up there first",
                         d->path, text);
    case STATUS_TASK_ABORTED:
        return error_set(-EIO, SATED_LAYER_DRIVE,
                         "%s: %s was aborted by another initiator (SCSI status 40h); look at the drive's state before "
                         "you send it again",
                         d->path, text);
    default:
        return error_set(-EIO, SATED_LAYER_DRIVE, "%s: %s ended with SCSI status %02Xh, which SAM-6 does not have; %s",
                         d->path, text, status, "suspect the bridge or adapter in front of the drive");
    }
}

/* What to do, by sense key (SPC-6 4.4.8). */
static const char *advice(uint8_t key, uint8_t asc)
{
    static const char *const by_key[16] = {
        [0x2] = "wait until it is ready, then try again",
        [0x3] = "look at the drive's health",
        [0x4] = "look at the drive's health",
        [0x5] = "the drive does not have this command, or not with these fields",
        [0x6] = "something changed since the last command; look at it, then send this one again",
        [0x7] = "it is write-protected or locked; lift that first",
        [0xb] = "try again, and check cable and adapter if it stays so",
    };
    if (key == 5 && asc == 0x21)
        return "give an address below its capacity";
    return by_key[key & 15] ? by_key[key & 15] : "see what the drive's manual says of it";
}

static int bad_sense(const struct sated_drive *d, const struct sated_scsi_sense *s, const char *text)
{
    char meaning[96];
    sated_scsi_asc_text(s->asc, s->ascq, meaning, sizeof meaning);
    if (s->deferred)
        error_set(SATED_SENSE, SATED_LAYER_DRIVE,
                  "%s: %s was not done, because the drive reported a failure of an earlier command instead: %s, %s "
                  "(sense %X/%02X/%02X, deferred); look at that, then send this one again",
                  d->path, text, sated_scsi_key_text(s->key), meaning, s->key, s->asc, s->ascq);
    else
        error_set(SATED_SENSE, SATED_LAYER_DRIVE, "%s: %s failed: %s, %s (sense %X/%02X/%02X); %s", d->path, text,
                  sated_scsi_key_text(s->key), meaning, s->key, s->asc, s->ascq, advice(s->key, s->asc));
    error_last()->sense_key = s->key;
    error_last()->asc = s->asc;
    error_last()->ascq = s->ascq;
    return SATED_SENSE;
}

static bool has(const struct sated_ata_registers *r)
{
    return r && r->source != SATED_ATA_REGISTERS_NONE;
}

static int check_condition(const struct sated_drive *d, const struct command *c, const struct sated_reply *r,
                           const char *text, const struct sated_ata_registers *registers)
{
    struct sated_scsi_sense sense;
    /* Sense data that is cut off before its key tells nothing either. */
    if (r->sense_len == 0 || sated_scsi_decode_sense(r->sense, r->sense_len, &sense) != 0 ||
        !IS_KNOWN(scsi_sense, &sense, key))
        return error_set(SATED_SENSE, SATED_LAYER_DRIVE,
                         "%s: %s failed, and the drive does not say why (CHECK CONDITION with %u bytes of sense data); "
                         "suspect the bridge or adapter in front of it",
                         d->path, text, r->sense_len);
    if (sense.deferred)
        return bad_sense(d, &sense, text);
    /* No sense and recovered errors are successes (SPC-6 4.4.8); of an ATA command only where the registers say so,
     * for which the ATA status is asked next. */
    if (sense.key <= 1)
        return 0;
    if (c->ata && has(registers) && registers->status & ATA_FAILED)
        return 0;
    return bad_sense(d, &sense, text);
}

/* Bit 5 of STATUS is DF; of ERROR bit 2 is ABRT, 4 IDNF, 6 UNC, 7 ICRC (ACS-5 6.2, 6.3). */
static int ata_status(const struct sated_drive *d, const struct command *c, const struct sated_reply *r,
                      const char *text, const struct sated_ata_registers *registers)
{
    if (!has(registers)) {
        /* A command whose answer is the registers has said nothing at all without them; only data from the drive is an
         * answer by itself. */
        if (c->ata->ck_cond && c->direction != SATED_DATA_IN)
            return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                             "%s: %s came back without the drive's registers (%u bytes of sense data), so nobody knows "
                             "what became of it; attach the drive to a SATA port, or to an adapter that hands them "
                             "through",
                             d->path, text, r->sense_len);
        return 0;
    }
    if (!(registers->status & ATA_FAILED))
        return 0;
    error_set(SATED_ATA, SATED_LAYER_DRIVE, "%s: %s failed: the drive %s (ATA status %02Xh, error %02Xh); %s", d->path,
              text,
              registers->status & 0x20  ? "reports a fault of itself"
              : registers->error & 0x04 ? "aborted it"
              : registers->error & 0x40 ? "cannot correct the data there"
              : registers->error & 0x10 ? "has no such address"
              : registers->error & 0x80 ? "met a damaged transfer"
                                        : "reports an error",
              registers->status, registers->error,
              registers->status & 0x20  ? "look at its health"
              : registers->error & 0x04 ? "it does not have this command, or not in the state that it is in"
              : registers->error & 0x40 ? "look at its health"
              : registers->error & 0x10 ? "give an address below its capacity"
                                        : "check the cable, then try again");
    error_last()->ata_status = registers->status;
    error_last()->ata_error = registers->error;
    return SATED_ATA;
}

static bool tells_failure(const struct sated_reply *r)
{
    struct sated_scsi_sense sense;
    return r->sense_len && sated_scsi_decode_sense(r->sense, r->sense_len, &sense) == 0 && sense.key > 1;
}

static int scsi_status(const struct sated_drive *d, const struct command *c, const struct sated_reply *r,
                       const char *text, const struct sated_ata_registers *registers)
{
    int rc = 0;
    if (r->host_status)
        return bad_host(d, c, r->host_status, text);
    /* Old kernels have a suggestion in the upper bits. */
    if (r->driver_status & 15 && (r->driver_status & 15) != DRIVER_SENSE)
        return bad_driver(d, c, r->driver_status, text);
    switch (r->scsi_status) {
    case STATUS_GOOD:
    case STATUS_CONDITION_MET:
    case STATUS_INTERMEDIATE:
    case STATUS_INTERMEDIATE_MET:
        /* SPC-6 4.4.1: sense data may come with GOOD too, but not of a failure: then the status was lost on its way. */
        rc = tells_failure(r) ? check_condition(d, c, r, text, registers) : 0;
        break;
    case STATUS_CHECK_CONDITION: rc = check_condition(d, c, r, text, registers); break;
    default: rc = bad_status(d, r->scsi_status, text); break;
    }
    return rc || !c->ata ? rc : ata_status(d, c, r, text, registers);
}

/* What to do, by status type and code (NVMe Base 2.0 3.3.3.2.1, NVM Command Set 1.0 3.1.2). What it does not have is
 * answered by its type, and by whether the drive says that another try is of no use. */
static const char *nvme_advice(uint16_t status)
{
#define STATUS(sct, sc) ((sct) << 8 | (sc))
    static const struct {
        uint16_t status;
        const char *text;
    } known[] = {
        {STATUS(0, 0x01), "the drive does not have this command"},
        {STATUS(0, 0x02), "the drive does not take these fields"},
        {STATUS(0, 0x0b), "check the namespace"},
        {STATUS(0, 0x0c), "send first what has to come before it"},
        {STATUS(0, 0x15), "the drive denies it in the state that it is in; look at its security and lockdown settings"},
        {STATUS(0, 0x18), "give a host identifier of the length that the drive takes"},
        {STATUS(0, 0x1c), "a sanitize failed: start another one, or leave that state by SANACT 1, and look at log 81h"},
        {STATUS(0, 0x1d), "wait until that has ended, then try again"},
        {STATUS(0, 0x20), "lift the namespace's write protection first"},
        {STATUS(0, 0x23), "another host or controller locked it down; have it lifted there"},
        {STATUS(0, 0x80), "give an address below its capacity"},
        {STATUS(0, 0x81), "the namespace has no room left; free some by deallocating blocks"},
        {STATUS(0, 0x83), "another host has it reserved; have that given up there"},
        {STATUS(0, 0x84), "wait until that has ended, then try again"},
        {STATUS(1, 0x02), "give a size that the drive has"},
        {STATUS(1, 0x06), "give a slot that the drive has (Identify Controller, FRMW)"},
        {STATUS(1, 0x07), "check that the image is whole, and for this model"},
        {STATUS(1, 0x09), "the drive does not have this log"},
        {STATUS(1, 0x0a), "give one of the formats that Identify Namespace lists, with protection that it has"},
        {STATUS(1, 0x0b), "reset the drive, then the new firmware runs"},
        {STATUS(1, 0x0d), "leave saving out: this feature cannot be saved"},
        {STATUS(1, 0x0e), "this feature cannot be changed"},
        {STATUS(1, 0x0f), "ask for it without a namespace"},
        {STATUS(1, 0x10), "reset the whole subsystem, then the new firmware runs"},
        {STATUS(1, 0x11), "reset the controller, then the new firmware runs"},
        {STATUS(1, 0x13), "the drive does not allow this firmware"},
        {STATUS(1, 0x15), "ask for less, or delete a namespace first"},
        {STATUS(1, 0x16), "delete a namespace first: no more can be made"},
        {STATUS(1, 0x18), "it is attached already: nothing is left to do"},
        {STATUS(1, 0x19), "it belongs to another controller alone; detach it there"},
        {STATUS(1, 0x1a), "attach it first"},
        {STATUS(1, 0x1d), "wait until the self-test has ended, or abort it"},
        {STATUS(1, 0x1f), "give a controller that the subsystem has"},
        {STATUS(1, 0x80), "give attributes that go together"},
        {STATUS(1, 0x81), "give protection information of the kind that the namespace has"},
        {STATUS(1, 0x82), "write elsewhere: this range can only be read"},
        {STATUS(1, 0x83), "ask for less at once"},
        {STATUS(2, 0x85), "the data is not what was compared with"},
        {STATUS(2, 0x86), "unlock the range first: the drive's security keeps it from being read or written"},
        {STATUS(2, 0x87), "write there first: the drive is set to fail reads of blocks without data"},
        {STATUS(3, 0x01), "use another path to the drive"},
        {STATUS(3, 0x02), "use another path to the drive"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == (status & 0x7ff))
            return known[i].text;
#undef STATUS
    switch (status >> 8 & 7) {
    case 1: return "check the command's fields against what the drive has";
    case 2: return "look at the drive's health";
    case 7: return "see what the drive's manual says of it";
    default:
        return status & 0x4000 ? "the drive says that trying again is of no use"
                               : "try again, and see the kernel's log";
    }
}

static int nvme_status(const struct sated_drive *d, const struct command *c, const struct sated_reply *r,
                       const char *text)
{
    uint8_t sct = r->nvme_status >> 8 & 7, sc = (uint8_t)r->nvme_status;
    if (r->nvme_status == 0)
        return 0;
    if (sct == 3 && sc == 0x71) { /* Command Aborted By Host: so the kernel ends what took too long */
        error_set(SATED_STALLED, SATED_LAYER_DRIVE,
                  "%s: %s was cancelled by the kernel, which allowed it %u ms (NVMe status 371h); the drive may still "
                  "be at it, so look at its state before you send it again",
                  d->path, text, c->timeout_ms);
    } else {
        error_set(SATED_NVME, SATED_LAYER_DRIVE, "%s: %s failed: %s (NVMe status type %u, code %02Xh); %s", d->path,
                  text, sated_nvme_sc_name(sct, sc), sct, sc, nvme_advice(r->nvme_status));
    }
    error_last()->nvme_sct = sct;
    error_last()->nvme_sc = sc;
    return error_last()->code;
}

int command_status(const struct sated_drive *d, const struct command *c, const struct sated_reply *reply,
                   const struct sated_ata_registers *registers)
{
    char text[200];
    command_text(text, sizeof text, c);
    return c->nvme ? nvme_status(d, c, reply, text) : scsi_status(d, c, reply, text, registers);
}

int command_not_sent(const struct sated_drive *d, const struct command *c, int error, const char *capability)
{
    char text[200];
    command_text(text, sizeof text, c);
    switch (error) {
    case EPERM:
    case EACCES:
        return error_set(-error, SATED_LAYER_DRIVE, "%s: the kernel does not let this process send %s (%s); %s%s",
                         d->path, text, error_text(error),
                         geteuid() ? "run as root, or with " : "root has given up (as in a container), or lacks, ",
                         capability);
    case ENODEV:
    case ENXIO:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: has gone (%s) before %s could be sent; `sated list` shows what there is", d->path,
                         error_text(error), text);
    default:
        return error_set(-error, SATED_LAYER_DRIVE, "%s: %s could not be sent: %s; see the kernel's log", d->path, text,
                         error_text(error));
    }
}
