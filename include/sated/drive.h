/* SPDX-License-Identifier: MIT */
#ifndef SATED_DRIVE_H
#define SATED_DRIVE_H

#include <sated/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* A drive: a simulated one, a regular file, a device, recorded answers, or a callback transport. */
struct sated_drive;
struct sated_scsi_command;
struct sated_nvme_command;

struct sated_drive_options {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    uint64_t create_bytes; /* make a new file of so many bytes; an existing one is refused. 0 = open what is there */
};

enum sated_protocol {
    SATED_PROTOCOL_NONE = 0, /* a file */
    SATED_PROTOCOL_SCSI = 1,
    SATED_PROTOCOL_ATA = 2,
    SATED_PROTOCOL_NVME = 3,
};

#define SATED_IDENTITY_SIMULATED 1
#define SATED_IDENTITY_FILE 2
#define SATED_IDENTITY_BLOCK 4
#define SATED_IDENTITY_ROTATION_KNOWN 8
#define SATED_IDENTITY_RAW_KNOWN 16
#define SATED_IDENTITY_MOUNTED 32
#define SATED_IDENTITY_REPLAYED 64       /* its answers were recorded */
#define SATED_IDENTITY_CALLBACK 128      /* a transport of the caller's stands behind it */
#define SATED_IDENTITY_COMMANDS_ONLY 256 /* it takes commands, but no load */

struct sated_identity {
    uint32_t protocol;              /* enum sated_protocol */
    uint32_t flags;                 /* SATED_IDENTITY_* */
    uint64_t capacity_bytes;        /* what can be addressed */
    uint64_t native_capacity_bytes; /* what could be, without an LBA limit; 0 = nobody told */
    uint64_t raw_bytes;             /* of flash, if RAW_KNOWN */
    uint32_t logical_block_bytes;   /* 0 = nobody told, as for physical */
    uint32_t physical_block_bytes;
    uint32_t rotation_rpm; /* 0 = SSD, if ROTATION_KNOWN */
    uint32_t scale;        /* simulated drives: 1/scale of the blocks; else 1 */
    char vendor[32];
    char model[64];
    char serial[64];
    char firmware[32];
    char transport[16]; /* sata sas nvme usb virtio file sim */
    char link[32];      /* as negotiated, such as "6.0 Gbps" or "8.0 GT/s PCIe x4" */
    char link_max[32];
    char hba[96];          /* what it is attached to: name and place of a host adapter, a USB bridge, ... */
    char driver[32];       /* the kernel's, of that */
    char namespaces[256];  /* NVMe: all that this controller or subsystem has; names, separated by line feeds */
    char controllers[256]; /* NVMe: the paths to this namespace, such as "nvme4 live"; likewise */
    char members[512];     /* of a set, with their states, such as "sda1 in_sync"; likewise */
    char reasons[512];     /* why it may not be written to; sentences, likewise */
    char path[512];        /* by-id where there is one */
    char token[576];       /* what confirm= takes */
    char raw_source[128];
    char note[256]; /* such as why direct I/O is not in use, or what stands beside its blocks; "" if there is nothing */
};

struct sated_guard {
    bool safe;        /* may be changed, given the token */
    bool needs_token; /* false for a simulated or replayed drive, and for a file that this open made */
    bool wipeable;    /* nothing stands against it but partitions and signatures that nothing uses */
    uint8_t reserved[5];
    char reasons[2048]; /* why not; sentences separated by a line feed */
    char scope[512];    /* what would be touched */
    char paths[256];    /* the ports or controllers in use, such as "nvme4 live"; likewise */
};

/* Sets the defaults: open what is there. */
void sated_drive_options_init(struct sated_drive_options *opt);

/* Opens a drive by URI: PATH, serial:TEXT, replay:FILE or sim:NAME[,key=value]... Nothing is opened for writing yet.
 * PATH is a regular file, a block device, or a node that takes commands: /dev/sgN, /dev/bsg/H:C:T:L, /dev/ngXnY, or
 * an NVMe controller, which stands for its namespace if it has just one, and else takes admin commands only.
 * @param out receives the handle, NULL on failure; @param uri; @param opt NULL for the defaults.
 * Return: 0; SATED_PARSE for a URI that has no meaning; SATED_UNSAFE if a file to be made exists or became another one
 * meanwhile, or if something else stands where the lock of a state= file belongs; SATED_STATE for a state file that is
 * damaged or of another drive; SATED_UNSUPPORTED for a namespace whose metadata the kernel does not carry; -EBUSY if
 * another handle or process has that state file open; or another errno.
 * Thread: the handle's. Owner: the caller closes. */
int sated_drive_open(struct sated_drive **out, const char *uri, const struct sated_drive_options *opt);

/* Closes a drive, saving a simulated one's state= file; NULL does nothing. Return: 0; the error of saving (it is closed
 * all the same, and the file is as it was); SATED_STATE, still open, while a load on it has not been freed or ended.
 * Thread: the handle's. */
int sated_drive_close(struct sated_drive *d);

/* What the drive is. An ATA drive is asked itself, the first time, for what sysfs cuts off or does not have.
 * @param out filled whole. Return: 0 or an error. Thread: the handle's. */
int sated_drive_get_identity(struct sated_drive *d, struct sated_identity *out);

/* What stands against changing what is read and written through this handle: a disk, a namespace, a file; looked at
 * now. @param out filled whole. Return: 0 or an error. Thread: the handle's. */
int sated_drive_guard(struct sated_drive *d, struct sated_guard *out);

/* The same for what reaches all of the device behind it: NVMe Sanitize and most formats, every namespace of the
 * subsystem on every controller; of SCSI every logical unit. */
int sated_drive_guard_whole(struct sated_drive *d, struct sated_guard *out);

/* Consents to changing the drive, for as long as it is open. A block device is from then on open for this handle alone:
 * nothing of it can be mounted, and of a token that covers the whole device nothing of that.
 * @param token what `sated list` shows; NULL for a drive that needs none. The serial number of a device with one
 * namespace or logical unit covers all of it; SERIAL:nsid one namespace of several; SERIAL:all the whole device.
 * Return: 0; SATED_UNSAFE for a token that is missing or wrong, for a drive in use (mounted, swap, a member of a set,
 * backing a loop device, locked by a process, ...), for one that holds signatures or partitions, or a partition;
 * SATED_STATE in a fork of the process that opened it, where nothing can be changed by this handle; another error where it
 * cannot be opened. Thread: the handle's. */
int sated_drive_permit(struct sated_drive *d, const char *token);

/* As sated_drive_permit, but clears old signatures and partition tables first, where nothing else stands against the
 * drive: 5 MiB at both ends of the disk and of each partition. Without any it only permits. */
int sated_drive_wipe_signatures(struct sated_drive *d, const char *token);

/* The drives of this machine, without writing to any. @param out cap of them, may be NULL with cap 0.
 * Return: how many there are, or an error. Thread: any. */
int sated_drive_list(struct sated_identity *out, size_t cap);

/* The drive's clock, in reported nanoseconds: CLOCK_MONOTONIC for a real one, virtual for a simulated one.
 * Thread: any, also while a load runs. */
int64_t sated_drive_now_ns(struct sated_drive *d);

/* Leaves the drive idle for so long by its own clock; a simulated drive takes none of ours.
 * @param ns reported nanoseconds; a simulated drive's clock goes on for 36 years. Return: 0, -EINVAL, or SATED_STATE while
 * a load runs on a simulated drive.
 * Thread: the handle's. */
int sated_drive_sleep(struct sated_drive *d, int64_t ns);

/* Makes the kernel look at the drive again, follows it where it has another name since, and asks it anew what it is:
 * after a cut of power, or where something else changed it. The permit stays.
 * Return: 0; SATED_UNSAFE if another drive stands in its place; SATED_STATE while something runs on it; or an errno: it
 * is not back yet. Thread: the handle's. */
int sated_drive_refresh(struct sated_drive *d);

/* ---- Settings ---- */

#define SATED_SETTING_WRITE_CACHE 1
#define SATED_SETTING_LOOK_AHEAD 2
#define SATED_SETTING_APM 4
#define SATED_SETTING_POWER_STATE 8
#define SATED_SETTING_APST 16
#define SATED_SETTING_BLOCK 32

/* How a drive is set. */
struct sated_settings {
    uint32_t known;      /* SATED_SETTING_*: which the drive tells, or which are to be set */
    uint32_t changeable; /* of those, which can be set */
    bool write_cache;    /* ATA SET FEATURES 02h/82h, SCSI WCE, NVMe feature 06h: a volatile one */
    bool look_ahead;     /* ATA SET FEATURES AAh/55h, SCSI DRA */
    bool apst;           /* NVMe feature 0Ch: it goes to states of lower power by itself */
    uint8_t reserved;
    uint32_t apm;                 /* ATA SET FEATURES 05h/85h: level 1, the least power, to 254; 0 is off */
    uint32_t power_state;         /* NVMe feature 02h */
    uint32_t logical_block_bytes; /* SCSI by FORMAT UNIT, NVMe by Format NVM: destroys all data */
};

/* @param out filled whole. Return: 0; SATED_UNSUPPORTED for what takes no commands; SATED_STATE while something runs on
 * it; or the drive's error. Thread: the handle's. */
int sated_drive_get_settings(struct sated_drive *d, struct sated_settings *out);

/* Sets those in wanted->known, none of which outlasts a cut of power but the block size. @param passing true: what they
 * were is kept in a journal before they are changed, until sated_drive_restore_settings(), be it of another process after
 * this one was killed; not for the block size, which is restored by setting it back.
 * Return: 0; 1 where the drive is formatting itself: go on with sated_provision_wait(); SATED_UNSAFE without a permit;
 * SATED_UNSUPPORTED for one that it does not have; SATED_PARSE for a value that there is not; SATED_STATE while
 * something runs on it; or the drive's error. Thread: the handle's. */
int sated_drive_set_settings(struct sated_drive *d, const struct sated_settings *wanted, bool passing);

/* Sets back what was changed for a time. @param restored receives what was to be set back; may be NULL.
 * Return: 1 where there was something, 0 where not, or as sated_drive_set_settings(): then the journal stays.
 * Thread: the handle's. */
int sated_drive_restore_settings(struct sated_drive *d, struct sated_settings *restored);

/* ---- Commands ---- */

#define SATED_REPLY_RESIDUAL_WRONG 1 /* the residual was not within the length: all of the data is taken as moved */

/* What came of one command. Filled also where the call fails, as far as things went. */
struct sated_reply {
    uint64_t result;     /* NVMe: dwords 0 and 1 of the completion (dword 0 only where the kernel has no 64-bit form) */
    int64_t duration_ns; /* by the drive's clock */
    uint32_t data_len;   /* bytes of data that moved: what was asked for less the residual */
    int32_t residual;    /* as told */
    uint32_t flags;      /* SATED_REPLY_* */
    uint16_t host_status;   /* SCSI: of the host adapter, DID_* of the kernel; 0 = ok */
    uint16_t driver_status; /* SCSI: of the kernel's driver; 8 = there is sense data */
    uint16_t nvme_status;   /* 15 bits: DNR 4000h, More 2000h, SCT 700h, SC FFh; 0 = ok */
    uint8_t scsi_status;    /* SAM-5 5.3.1: 0 good, 2 check condition, ... */
    uint8_t reserved;
    uint32_t sense_len;
    uint8_t sense[256];
};

/* A way to reach a drive that the caller brings. */
struct sated_transport {
    uint32_t size;     /* of this struct */
    uint32_t protocol; /* enum sated_protocol */
    bool simulated;    /* no real drive stands behind it: commands need no consent */
    uint8_t reserved[7];
    void *user; /* handed to each function */
    /* Carries a command. `data` has c->data_len bytes, to send or to fill, and is page-aligned; `reply` is zeroed.
     * Return: 0 if the drive answered, whatever it said; else an error, whose sentence sated_detail_set() takes.
     * NULL: the drive does not take such commands. */
    int (*scsi)(void *user, const struct sated_scsi_command *c, void *data, struct sated_reply *reply);
    int (*nvme)(void *user, const struct sated_nvme_command *c, void *data, struct sated_reply *reply);
    void (*close)(void *user); /* with the drive; may be NULL */
};

/* Sets the defaults: a real SCSI drive without functions. */
void sated_transport_init(struct sated_transport *t);

/* Opens a drive behind the caller's transport and asks it what it is. @param name for sentences; @param t is copied.
 * Return: 0 or an error; what cannot be asked of the drive is left out of the identity.
 * Thread: the handle's, which is also that of the functions. Owner: the caller closes. */
int sated_drive_open_transport(struct sated_drive **out, const char *name, const struct sated_transport *t);

/* Keeps every command and its answer from now on, to be written as a replay file.
 * Return: 0; SATED_UNSUPPORTED for what takes no commands, SATED_STATE if it is recorded already. */
int sated_drive_record_start(struct sated_drive *d);

/* Ends recording and writes the replay file, with the serial numbers and world-wide names in it replaced.
 * @param path of a file to be made; NULL writes nothing. Return: the number of commands; -EEXIST for a file or a link
 * that is there already, which stays as it is; SATED_STATE if nothing is recorded, or an errno. */
int sated_drive_record_stop(struct sated_drive *d, const char *path);

enum sated_command_set {
    SATED_COMMANDS_SCSI = 0,
    SATED_COMMANDS_ATA = 1,
    SATED_COMMANDS_NVME_ADMIN = 2,
    SATED_COMMANDS_NVME_IO = 3,
};

/* A row of the table of read-only commands: what changes nothing, and is sent without consent. */
struct sated_read_only {
    uint32_t set; /* enum sated_command_set */
    uint32_t opcode;
    char name[64];
    char fields[192]; /* what must hold for its fields; empty: nothing */
};

/* The table of read-only commands. @param out cap rows of it, may be NULL with cap 0.
 * Return: how many rows it has. Thread: any. */
int sated_read_only_list(struct sated_read_only *out, size_t cap);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
