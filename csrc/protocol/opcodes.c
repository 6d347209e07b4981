/* SPDX-License-Identifier: MIT */
/* Names of the commands of disks, after T10's list "SCSI Operation Codes". */
#include <sated/scsi.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct name {
    uint16_t code; /* operation code, or service action */
    const char *text;
};

static const struct name plain[] = {
    {0x00, "TEST UNIT READY"},
    {0x01, "REZERO UNIT"},
    {0x03, "REQUEST SENSE"},
    {0x04, "FORMAT UNIT"},
    {0x07, "REASSIGN BLOCKS"},
    {0x08, "READ(6)"},
    {0x0a, "WRITE(6)"},
    {0x0b, "SEEK(6)"},
    {0x12, "INQUIRY"},
    {0x15, "MODE SELECT(6)"},
    {0x16, "RESERVE(6)"},
    {0x17, "RELEASE(6)"},
    {0x1a, "MODE SENSE(6)"},
    {0x1b, "START STOP UNIT"},
    {0x1c, "RECEIVE DIAGNOSTIC RESULTS"},
    {0x1d, "SEND DIAGNOSTIC"},
    {0x1e, "PREVENT ALLOW MEDIUM REMOVAL"},
    {0x23, "READ FORMAT CAPACITIES"},
    {0x25, "READ CAPACITY(10)"},
    {0x28, "READ(10)"},
    {0x2a, "WRITE(10)"},
    {0x2b, "SEEK(10)"},
    {0x2e, "WRITE AND VERIFY(10)"},
    {0x2f, "VERIFY(10)"},
    {0x34, "PRE-FETCH(10)"},
    {0x35, "SYNCHRONIZE CACHE(10)"},
    {0x37, "READ DEFECT DATA(10)"},
    {0x38, "FORMAT WITH PRESET"},
    {0x3b, "WRITE BUFFER"},
    {0x3e, "READ LONG(10)"},
    {0x3f, "WRITE LONG(10)"},
    {0x40, "CHANGE DEFINITION"},
    {0x41, "WRITE SAME(10)"},
    {0x42, "UNMAP"},
    {0x4c, "LOG SELECT"},
    {0x4d, "LOG SENSE"},
    {0x50, "XDWRITE(10)"},
    {0x51, "XPWRITE(10)"},
    {0x52, "XDREAD(10)"},
    {0x53, "XDWRITEREAD(10)"},
    {0x55, "MODE SELECT(10)"},
    {0x56, "RESERVE(10)"},
    {0x57, "RELEASE(10)"},
    {0x5a, "MODE SENSE(10)"},
    {0x85, "ATA PASS-THROUGH(16)"},
    {0x88, "READ(16)"},
    {0x89, "COMPARE AND WRITE"},
    {0x8a, "WRITE(16)"},
    {0x8b, "ORWRITE(16)"},
    {0x8c, "READ ATTRIBUTE"},
    {0x8d, "WRITE ATTRIBUTE"},
    {0x8e, "WRITE AND VERIFY(16)"},
    {0x8f, "VERIFY(16)"},
    {0x90, "PRE-FETCH(16)"},
    {0x91, "SYNCHRONIZE CACHE(16)"},
    {0x93, "WRITE SAME(16)"},
    {0x9a, "WRITE STREAM(16)"},
    {0x9c, "WRITE ATOMIC(16)"},
    {0xa0, "REPORT LUNS"},
    {0xa1, "ATA PASS-THROUGH(12)"},
    {0xa2, "SECURITY PROTOCOL IN"},
    {0xa8, "READ(12)"},
    {0xaa, "WRITE(12)"},
    {0xae, "WRITE AND VERIFY(12)"},
    {0xaf, "VERIFY(12)"},
    {0xb5, "SECURITY PROTOCOL OUT"},
    {0xb7, "READ DEFECT DATA(12)"},
};

static const struct name sanitize[] = {
    {0x01, "SANITIZE, overwrite"},
    {0x02, "SANITIZE, block erase"},
    {0x03, "SANITIZE, cryptographic erase"},
    {0x1f, "SANITIZE, exit failure mode"},
};

static const struct name read_buffer[] = {
    {0x02, "READ BUFFER(10), data"},
    {0x03, "READ BUFFER(10), descriptor"},
    {0x0a, "READ BUFFER(10), echo buffer"},
    {0x1c, "READ BUFFER(10), error history"},
};

static const struct name reserve_in[] = {
    {0x00, "PERSISTENT RESERVE IN, read keys"},
    {0x01, "PERSISTENT RESERVE IN, read reservation"},
    {0x02, "PERSISTENT RESERVE IN, report capabilities"},
    {0x03, "PERSISTENT RESERVE IN, read full status"},
};

static const struct name reserve_out[] = {
    {0x00, "PERSISTENT RESERVE OUT, register"},
    {0x01, "PERSISTENT RESERVE OUT, reserve"},
    {0x02, "PERSISTENT RESERVE OUT, release"},
    {0x03, "PERSISTENT RESERVE OUT, clear"},
    {0x04, "PERSISTENT RESERVE OUT, preempt"},
    {0x05, "PERSISTENT RESERVE OUT, preempt and abort"},
    {0x06, "PERSISTENT RESERVE OUT, register and ignore"},
    {0x07, "PERSISTENT RESERVE OUT, register and move"},
};

static const struct name variable[] = {
    {0x0009, "READ(32)"},
    {0x000a, "VERIFY(32)"},
    {0x000b, "WRITE(32)"},
    {0x000c, "WRITE AND VERIFY(32)"},
    {0x000d, "WRITE SAME(32)"},
    {0x000e, "ORWRITE(32)"},
    {0x000f, "WRITE ATOMIC(32)"},
    {0x0010, "WRITE STREAM(32)"},
    {0x0011, "WRITE SCATTERED(32)"},
    {0x0012, "GET LBA STATUS(32)"},
    {0x1ff0, "ATA PASS-THROUGH(32)"},
};

static const struct name zoning_out[] = {
    {0x01, "CLOSE ZONE"},
    {0x02, "FINISH ZONE"},
    {0x03, "OPEN ZONE"},
    {0x04, "RESET WRITE POINTER"},
};

static const struct name zoning_in[] = {
    {0x00, "REPORT ZONES"},
};

static const struct name bidirectional[] = {
    {0x0f, "READ BUFFER(16)"},
};

static const struct name action_in[] = {
    {0x10, "READ CAPACITY(16)"},
    {0x11, "READ LONG(16)"},
    {0x12, "GET LBA STATUS(16)"},
    {0x13, "REPORT REFERRALS"},
    {0x14, "STREAM CONTROL"},
    {0x15, "BACKGROUND CONTROL"},
    {0x16, "GET STREAM STATUS"},
    {0x17, "GET PHYSICAL ELEMENT STATUS"},
    {0x18, "REMOVE ELEMENT AND TRUNCATE"},
    {0x19, "RESTORE ELEMENTS AND REBUILD"},
};

static const struct name action_out[] = {
    {0x11, "WRITE LONG(16)"},
    {0x12, "WRITE SCATTERED(16)"},
};

static const struct name maintenance_in[] = {
    {0x05, "REPORT IDENTIFYING INFORMATION"},
    {0x0a, "REPORT TARGET PORT GROUPS"},
    {0x0b, "REPORT ALIASES"},
    {0x0c, "REPORT SUPPORTED OPERATION CODES"},
    {0x0d, "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS"},
    {0x0e, "REPORT PRIORITY"},
    {0x0f, "REPORT TIMESTAMP"},
};

static const struct name maintenance_out[] = {
    {0x06, "SET IDENTIFYING INFORMATION"},
    {0x0a, "SET TARGET PORT GROUPS"},
    {0x0b, "CHANGE ALIASES"},
    {0x0e, "SET PRIORITY"},
    {0x0f, "SET TIMESTAMP"},
};

/* Operation codes that are only half of a name: the service action is the other half. */
static const struct {
    uint8_t opcode;
    const char *other; /* for a service action that is not in the list */
    const struct name *names;
    size_t n;
} families[] = {
    {0x3c, "READ BUFFER(10)", read_buffer, COUNT(read_buffer)},
    {0x48, "SANITIZE", sanitize, COUNT(sanitize)},
    {0x5e, "PERSISTENT RESERVE IN", reserve_in, COUNT(reserve_in)},
    {0x5f, "PERSISTENT RESERVE OUT", reserve_out, COUNT(reserve_out)},
    {0x7f, "Variable length CDB", variable, COUNT(variable)},
    {0x83, "Third-party copy OUT", NULL, 0},
    {0x84, "Third-party copy IN", NULL, 0},
    {0x94, "Zoning OUT", zoning_out, COUNT(zoning_out)},
    {0x95, "Zoning IN", zoning_in, COUNT(zoning_in)},
    {0x9b, "READ BUFFER(16)", bidirectional, COUNT(bidirectional)},
    {0x9e, "SERVICE ACTION IN(16)", action_in, COUNT(action_in)},
    {0x9f, "SERVICE ACTION OUT(16)", action_out, COUNT(action_out)},
    {0xa3, "MAINTENANCE IN", maintenance_in, COUNT(maintenance_in)},
    {0xa4, "MAINTENANCE OUT", maintenance_out, COUNT(maintenance_out)},
};

static const char *find(const struct name *names, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (names[i].code == code)
            return names[i].text;
    return NULL;
}

const char *sated_scsi_opcode_text(uint32_t opcode, uint32_t service_action)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i].opcode == opcode) {
            const char *text = find(families[i].names, families[i].n, service_action);
            return text ? text : families[i].other;
        }
    return find(plain, COUNT(plain), opcode);
}
