/* SPDX-License-Identifier: MIT */
#ifndef SATED_PROVISION_H
#define SATED_PROVISION_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* How much of a drive can be addressed, and by what it is limited. */
enum sated_provision_method {
    SATED_PROVISION_LBA = 0,         /* a limit kept in this handle (and in a simulated drive's state): nothing of the
                                        drive itself changes */
    SATED_PROVISION_HPA = 1,         /* ATA: Host Protected Area, SET MAX ADDRESS */
    SATED_PROVISION_AMAC = 2,        /* ATA: Accessible Max Address Configuration, which took the place of HPA */
    SATED_PROVISION_DCO = 3,         /* ATA: Device Configuration Overlay */
    SATED_PROVISION_MODE_SELECT = 4, /* SCSI: the number of blocks in a block descriptor */
    SATED_PROVISION_NAMESPACE = 5,   /* NVMe: the namespace is deleted and created with another size */
    SATED_PROVISION_EVERY = 6,       /* for restoring: all of them but the last, which destroys what it restores */
};
#define SATED_PROVISION_METHODS 6

#define SATED_PROVISION_NATIVE_KNOWN 1
#define SATED_PROVISION_HIDDEN_KNOWN 2
#define SATED_PROVISION_INTERRUPTED 4       /* a change of it was begun and has not come to its end */
#define SATED_PROVISION_NEEDS_POWER_CYCLE 8 /* and cannot before the drive's power was off and on again */

struct sated_provision {
    uint64_t accessible_bytes;      /* through this handle */
    uint64_t device_bytes;          /* what the device lets address: more, where an LBA limit holds */
    uint64_t native_bytes;          /* what it would without any of the limits; less than that is known without
                                       NATIVE_KNOWN */
    uint64_t hidden_bytes;          /* native less device; only with HIDDEN_KNOWN: 0 means that nothing is hidden */
    uint64_t hidden_at_least_bytes; /* what is known of it in any case */
    uint64_t raw_bytes;             /* 0 = unknown */
    uint32_t limits;                /* 1 << method, for each that limits it now, as far as is known */
    uint32_t flags;                 /* SATED_PROVISION_* */
    uint32_t purged_beyond;         /* 1 if nothing beyond the limits holds data: then it is over-provisioning, else an
                                       address range only */
    uint32_t interrupted;           /* the method of the change that was begun, if INTERRUPTED; UINT32_MAX: not known */
    double lba_removed;             /* fraction of the native LBAs; NAN if these are unknown */
    double op_of_user;              /* (raw - user) / user, NaN if unknown */
    double op_of_raw;               /* (raw - user) / raw, NaN if unknown */
};

#define SATED_PROVISION_SUPPORTED 1
#define SATED_PROVISION_WHOLE_DRIVE 2 /* it needs consent to changing all that the device has, not one namespace */
#define SATED_PROVISION_ONCE 4        /* at most one change between two power-ons */

/* A method, as this drive has it. */
struct sated_provision_choice {
    uint32_t method; /* enum sated_provision_method */
    uint32_t flags;  /* SATED_PROVISION_SUPPORTED, ... */
    char name[16];   /* such as "mode-select" */
    char why_not[256];
    char destroys[256]; /* what is lost by it; empty for nothing */
    char then[256];     /* what to do afterwards; empty for nothing */
};

struct sated_provision_options {
    uint32_t size;   /* of this struct */
    uint32_t method; /* enum sated_provision_method */
};

/* How much can be addressed now. The drive is asked: IDENTIFY DEVICE, the native maximum and the overlay, the block
 * descriptor, or the namespace and what is not allocated; what it refuses is unknown, not zero.
 * @param out filled whole. Return: 0, or SATED_STATE while something else runs on it. Thread: the handle's. */
int sated_provision_get(struct sated_drive *d, struct sated_provision *out);

/* The methods there are, with what they do. @param out cap of them, may be NULL with cap 0.
 * Return: SATED_PROVISION_METHODS, or SATED_STATE while something else runs on it. Thread: the handle's. */
int sated_provision_list(struct sated_drive *d, struct sated_provision_choice *out, size_t cap);

/* Sets the defaults: the LBA limit. */
void sated_provision_options_init(struct sated_provision_options *opt);

/* Limits what can be addressed, or lifts the limit. Each command that changes the drive is in a journal before it is
 * sent, so that what interrupts it, be it a cut of power, leaves a change that sated_provision_wait() brings to its end
 * or takes back. @param bytes a multiple of 4096 or all there are; UINT64_MAX restores: it lifts the limit of that
 * method, or with SATED_PROVISION_EVERY of all in the order that the drive needs. @param opt NULL for the defaults.
 * Return: 0; 1 where the drive is now formatting itself: go on with sated_provision_wait(); SATED_UNSAFE without a
 * permit; SATED_UNSUPPORTED where it does not have the method; SATED_PARSE for a capacity that it cannot have;
 * SATED_STATE while something else runs on it, after an interrupted change, or where its power has to be switched off
 * and on first (SATED_PROVISION_NEEDS_POWER_CYCLE); or the drive's error. Thread: the handle's. */
int sated_provision_set(struct sated_drive *d, uint64_t bytes, const struct sated_provision_options *opt);

/* Goes on with a change that was interrupted, or that the drive is still at. @param undo brings it back to what it was
 * before instead. @param timeout_ns by the drive's clock; -1 = for ever.
 * Return: 0 where it is done, or where there is none; 1 where the drive is still formatting itself; else as
 * sated_provision_set(). Thread: the handle's. */
int sated_provision_wait(struct sated_drive *d, bool undo, int64_t timeout_ns);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
