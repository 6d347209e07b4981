/* SPDX-License-Identifier: MIT */
/* The status of a completion (NVM Express Base 2.0c 3.3.3.2.1) and the names of its codes (there and in NVM Command Set
 * 1.0c 3.1.2; generic ones from 25h on are of revision 2.1). */
#include <sated/nvme.h>

#include <string.h>

#include "core/error.h"
#include "protocol/nvme_inside.h"

struct name {
    uint8_t code;
    const char *text;
};

static const struct name generic[] = {
    {0x00, "Successful Completion"},
    {0x01, "Invalid Command Opcode"},
    {0x02, "Invalid Field in Command"},
    {0x03, "Command ID Conflict"},
    {0x04, "Data Transfer Error"},
    {0x05, "Commands Aborted due to Power Loss Notification"},
    {0x06, "Internal Error"},
    {0x07, "Command Abort Requested"},
    {0x08, "Command Aborted due to SQ Deletion"},
    {0x09, "Command Aborted due to Failed Fused Command"},
    {0x0a, "Command Aborted due to Missing Fused Command"},
    {0x0b, "Invalid Namespace or Format"},
    {0x0c, "Command Sequence Error"},
    {0x0d, "Invalid SGL Segment Descriptor"},
    {0x0e, "Invalid Number of SGL Descriptors"},
    {0x0f, "Data SGL Length Invalid"},
    {0x10, "Metadata SGL Length Invalid"},
    {0x11, "SGL Descriptor Type Invalid"},
    {0x12, "Invalid Use of Controller Memory Buffer"},
    {0x13, "PRP Offset Invalid"},
    {0x14, "Atomic Write Unit Exceeded"},
    {0x15, "Operation Denied"},
    {0x16, "SGL Offset Invalid"},
    {0x18, "Host Identifier Inconsistent Format"},
    {0x19, "Keep Alive Timer Expired"},
    {0x1a, "Keep Alive Timeout Invalid"},
    {0x1b, "Command Aborted due to Preempt and Abort"},
    {0x1c, "Sanitize Failed"},
    {0x1d, "Sanitize In Progress"},
    {0x1e, "SGL Data Block Granularity Invalid"},
    {0x1f, "Command Not Supported for Queue in CMB"},
    {0x20, "Namespace is Write Protected"},
    {0x21, "Command Interrupted"},
    {0x22, "Transient Transport Error"},
    {0x23, "Command Prohibited by Command and Feature Lockdown"},
    {0x24, "Admin Command Media Not Ready"},
    {0x25, "Invalid Key Tag"},
    {0x26, "Host Dispersed Namespace Support Not Enabled"},
    {0x27, "Host Identifier Not Initialized"},
    {0x28, "Incorrect Key"},
    {0x29, "FDP Disabled"},
    {0x2a, "Invalid Placement Handle List"},
    {0x80, "LBA Out of Range"},
    {0x81, "Capacity Exceeded"},
    {0x82, "Namespace Not Ready"},
    {0x83, "Reservation Conflict"},
    {0x84, "Format In Progress"},
    {0x85, "Invalid Value Size"},
    {0x86, "Invalid Key Size"},
    {0x87, "KV Key Does Not Exist"},
    {0x88, "Unrecovered Error"},
    {0x89, "Key Exists"},
};

static const struct name command_specific[] = {
    {0x00, "Completion Queue Invalid"},
    {0x01, "Invalid Queue Identifier"},
    {0x02, "Invalid Queue Size"},
    {0x03, "Abort Command Limit Exceeded"},
    {0x05, "Asynchronous Event Request Limit Exceeded"},
    {0x06, "Invalid Firmware Slot"},
    {0x07, "Invalid Firmware Image"},
    {0x08, "Invalid Interrupt Vector"},
    {0x09, "Invalid Log Page"},
    {0x0a, "Invalid Format"},
    {0x0b, "Firmware Activation Requires Conventional Reset"},
    {0x0c, "Invalid Queue Deletion"},
    {0x0d, "Feature Identifier Not Saveable"},
    {0x0e, "Feature Not Changeable"},
    {0x0f, "Feature Not Namespace Specific"},
    {0x10, "Firmware Activation Requires NVM Subsystem Reset"},
    {0x11, "Firmware Activation Requires Controller Level Reset"},
    {0x12, "Firmware Activation Requires Maximum Time Violation"},
    {0x13, "Firmware Activation Prohibited"},
    {0x14, "Overlapping Range"},
    {0x15, "Namespace Insufficient Capacity"},
    {0x16, "Namespace Identifier Unavailable"},
    {0x18, "Namespace Already Attached"},
    {0x19, "Namespace Is Private"},
    {0x1a, "Namespace Not Attached"},
    {0x1b, "Thin Provisioning Not Supported"},
    {0x1c, "Controller List Invalid"},
    {0x1d, "Device Self-test In Progress"},
    {0x1e, "Boot Partition Write Prohibited"},
    {0x1f, "Invalid Controller Identifier"},
    {0x20, "Invalid Secondary Controller State"},
    {0x21, "Invalid Number of Controller Resources"},
    {0x22, "Invalid Resource Identifier"},
    {0x23, "Sanitize Prohibited While Persistent Memory Region is Enabled"},
    {0x24, "ANA Group Identifier Invalid"},
    {0x25, "ANA Attach Failed"},
    {0x26, "Insufficient Capacity"},
    {0x27, "Namespace Attachment Limit Exceeded"},
    {0x28, "Prohibition of Command Execution Not Supported"},
    {0x29, "I/O Command Set Not Supported"},
    {0x2a, "I/O Command Set Not Enabled"},
    {0x2b, "I/O Command Set Combination Rejected"},
    {0x2c, "Invalid I/O Command Set"},
    {0x2d, "Identifier Unavailable"},
    {0x80, "Conflicting Attributes"},
    {0x81, "Invalid Protection Information"},
    {0x82, "Attempted Write to Read Only Range"},
    {0x83, "Command Size Limit Exceeded"},
    {0x85, "Incompatible Namespace or Format"},
    {0x86, "Fast Copy Not Possible"},
    {0x87, "Overlapping I/O Range"},
    {0x89, "Insufficient Resources"},
    {0xb6, "Invalid Zone Operation Request"},
    {0xb7, "ZRWA Resources Unavailable"},
    {0xb8, "Zoned Boundary Error"},
    {0xb9, "Zone Is Full"},
    {0xba, "Zone Is Read Only"},
    {0xbb, "Zone Is Offline"},
    {0xbc, "Zone Invalid Write"},
    {0xbd, "Too Many Active Zones"},
    {0xbe, "Too Many Open Zones"},
    {0xbf, "Invalid Zone State Transition"},
};

static const struct name media[] = {
    {0x80, "Write Fault"},
    {0x81, "Unrecovered Read Error"},
    {0x82, "End-to-end Guard Check Error"},
    {0x83, "End-to-end Application Tag Check Error"},
    {0x84, "End-to-end Reference Tag Check Error"},
    {0x85, "Compare Failure"},
    {0x86, "Access Denied"},
    {0x87, "Deallocated or Unwritten Logical Block"},
    {0x88, "End-to-End Storage Tag Check Error"},
};

static const struct name path[] = {
    {0x00, "Internal Path Error"},
    {0x01, "Asymmetric Access Persistent Loss"},
    {0x02, "Asymmetric Access Inaccessible"},
    {0x03, "Asymmetric Access Transition"},
    {0x60, "Controller Pathing Error"},
    {0x70, "Host Pathing Error"},
    {0x71, "Command Aborted By Host"},
};

static const struct {
    const char *text;
    const struct name *names;
    size_t n;
} types[8] = {
    {"Generic Command Status", generic, FIELDS(generic)},
    {"Command Specific Status", command_specific, FIELDS(command_specific)},
    {"Media and Data Integrity Errors", media, FIELDS(media)},
    {"Path Related Status", path, FIELDS(path)},
    {NULL, NULL, 0},
    {NULL, NULL, 0},
    {NULL, NULL, 0},
    {"Vendor Specific", NULL, 0},
};

const char *sated_nvme_sct_name(uint32_t sct)
{
    return sct < 8 && types[sct].text ? types[sct].text : "unknown status code type";
}

const char *sated_nvme_sc_name(uint32_t sct, uint32_t sc)
{
    for (size_t i = 0; sct < 8 && i < types[sct].n; i++)
        if (types[sct].names[i].code == sc)
            return types[sct].names[i].text;
    return sct == 7 || (sc >= 0xc0 && sc <= 0xff) ? "vendor specific status code" : "unknown status code";
}

int sated_nvme_decode_status(uint32_t status, struct sated_nvme_status *out)
{
    memset(out, 0, sizeof *out);
    if (status > 0x7fff)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "NVMe status %Xh has more than 15 bits: pass the Status field without its phase bit",
                         (unsigned)status);
    out->sc = (uint8_t)status;
    out->sct = status >> 8 & 7;
    out->crd = status >> 11 & 3;
    out->more = status >> 13 & 1;
    out->dnr = status >> 14 & 1;
    return 0;
}
