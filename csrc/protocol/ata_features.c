/* SPDX-License-Identifier: MIT */
/* What IDENTIFY DEVICE lists: features with their switches, and the versions of the standards. */
#include <sated/ata.h>

#include <stdio.h>
#include <string.h>

#include "protocol/ata_words.h"
#include "protocol/known_ata.h"

/* Where the switch of a feature stands: in a word of its own, or nowhere, because what is supported is always on. */
#define ALWAYS 0
#define UNTOLD 0xffff

static const struct {
    uint16_t word;
    uint16_t bit;
    uint16_t enabled_word;
    uint16_t enabled_bit;
    char name[48];
} features[] = {
    {48, 0, ALWAYS, 0, "Trusted Computing"},
    {59, 10, ALWAYS, 0, "SANITIZE ANTIFREEZE LOCK EXT"},
    {59, 12, ALWAYS, 0, "Sanitize Device"},
    {59, 13, ALWAYS, 0, "CRYPTO SCRAMBLE EXT"},
    {59, 14, ALWAYS, 0, "OVERWRITE EXT"},
    {59, 15, ALWAYS, 0, "BLOCK ERASE EXT"},
    {69, 2, ALWAYS, 0, "Non-volatile write cache"},
    {69, 3, ALWAYS, 0, "Extended number of addressable sectors"},
    {69, 4, ALWAYS, 0, "Encrypts all user data"},
    {69, 5, ALWAYS, 0, "Trimmed sectors read as zero"},
    {69, 6, ALWAYS, 0, "Optional 28-bit commands"},
    {69, 7, ALWAYS, 0, "IEEE 1667"},
    {69, 8, ALWAYS, 0, "DOWNLOAD MICROCODE DMA"},
    {69, 9, ALWAYS, 0, "SET MAX SET PASSWORD, UNLOCK DMA"},
    {69, 10, ALWAYS, 0, "WRITE BUFFER DMA"},
    {69, 11, ALWAYS, 0, "READ BUFFER DMA"},
    {69, 12, ALWAYS, 0, "DEVICE CONFIGURATION IDENTIFY, SET DMA"},
    {69, 13, UNTOLD, 0, "Alignment error reporting control"},
    {69, 14, ALWAYS, 0, "Deterministic data after TRIM"},
    {69, 15, ALWAYS, 0, "CFast"},
    {76, 1, ALWAYS, 0, "1.5 Gb/s"},
    {76, 2, ALWAYS, 0, "3.0 Gb/s"},
    {76, 3, ALWAYS, 0, "6.0 Gb/s"},
    {76, 8, ALWAYS, 0, "Native command queuing"},
    {76, 9, ALWAYS, 0, "Host-initiated power management"},
    {76, 10, ALWAYS, 0, "Phy event counters"},
    {76, 11, ALWAYS, 0, "Unload while NCQ is active"},
    {76, 12, ALWAYS, 0, "NCQ priority"},
    {76, 13, ALWAYS, 0, "Host automatic Partial to Slumber"},
    {76, 14, ALWAYS, 0, "Device automatic Partial to Slumber"},
    {76, 15, ALWAYS, 0, "READ LOG DMA EXT like READ LOG EXT"},
    {77, 4, ALWAYS, 0, "NCQ streaming"},
    {77, 5, ALWAYS, 0, "NCQ queue management"},
    {77, 6, ALWAYS, 0, "RECEIVE, SEND FPDMA QUEUED"},
    {77, 7, ALWAYS, 0, "DevSleep to reduced power state"},
    {77, 8, ALWAYS, 0, "Power disable always enabled"},
    {77, 9, ALWAYS, 0, "Out of band management"},
    {78, 1, 79, 1, "Non-zero buffer offsets"},
    {78, 2, 79, 2, "DMA Setup auto-activation"},
    {78, 3, 79, 3, "Device-initiated power management"},
    {78, 4, 79, 4, "In-order data delivery"},
    {78, 5, 79, 5, "Hardware feature control"},
    {78, 6, 79, 6, "Software settings preservation"},
    {78, 7, UNTOLD, 0, "NCQ autosense"},
    {78, 8, 79, 8, "Device sleep"},
    {78, 9, 79, 9, "Hybrid information"},
    {78, 10, UNTOLD, 0, "DIPM settings preservation"},
    {78, 11, 79, 11, "Rebuild assist"},
    {78, 12, 79, 10, "Power disable"},
    {82, 0, 85, 0, "SMART"},
    {82, 1, 85, 1, "Security"},
    {82, 2, 85, 2, "Removable media"},
    {82, 3, 85, 3, "Power management"},
    {82, 4, 85, 4, "PACKET"},
    {82, 5, 85, 5, "Volatile write cache"},
    {82, 6, 85, 6, "Read look-ahead"},
    {82, 7, 85, 7, "Release interrupt"},
    {82, 8, 85, 8, "SERVICE interrupt"},
    {82, 9, 85, 9, "DEVICE RESET"},
    {82, 10, 85, 10, "Host Protected Area"},
    {82, 11, 85, 11, "WRITE VERIFY"},
    {82, 12, 85, 12, "WRITE BUFFER"},
    {82, 13, 85, 13, "READ BUFFER"},
    {82, 14, 85, 14, "NOP"},
    {82, 15, 85, 15, "IDENTIFY DEVICE DMA"},
    {83, 0, 86, 0, "DOWNLOAD MICROCODE"},
    {83, 1, 86, 1, "Tagged command queuing"},
    {83, 2, 86, 2, "CFA"},
    {83, 3, 86, 3, "Advanced power management"},
    {83, 4, 86, 4, "Removable media status notification"},
    {83, 5, 86, 5, "Power-up in standby"},
    {83, 6, 86, 6, "SET FEATURES spins up"},
    {83, 7, 86, 7, "Address offset reserved area boot"},
    {83, 8, 86, 8, "SET MAX security extension"},
    {83, 9, 86, 9, "Automatic acoustic management"},
    {83, 10, 86, 10, "48-bit addresses"},
    {83, 11, 86, 11, "Device Configuration Overlay"},
    {83, 12, 86, 12, "FLUSH CACHE"},
    {83, 13, 86, 13, "FLUSH CACHE EXT"},
    {84, 0, 87, 0, "SMART error log"},
    {84, 1, 87, 1, "SMART self-test"},
    {84, 2, 87, 2, "Media serial number"},
    {84, 3, 87, 3, "Media card pass through"},
    {84, 4, 87, 4, "Streaming"},
    {84, 5, 87, 5, "General purpose logging"},
    {84, 6, 87, 6, "WRITE DMA, MULTIPLE FUA EXT"},
    {84, 7, 87, 7, "WRITE DMA QUEUED FUA EXT"},
    {84, 8, 87, 8, "World wide name"},
    {84, 9, 87, 9, "URG bit in READ STREAM"},
    {84, 10, 87, 10, "URG bit in WRITE STREAM"},
    {84, 13, 87, 13, "IDLE IMMEDIATE with UNLOAD"},
    {119, 0, 120, 0, "Disable data transfer after errors"},
    {119, 1, 120, 1, "Write-read-verify"},
    {119, 2, 120, 2, "WRITE UNCORRECTABLE EXT"},
    {119, 3, 120, 3, "READ, WRITE LOG DMA EXT"},
    {119, 4, 120, 4, "DOWNLOAD MICROCODE in segments"},
    {119, 5, 120, 5, "Free-fall control"},
    {119, 6, 120, 6, "Sense data reporting"},
    {119, 7, 120, 7, "Extended power conditions"},
    {119, 8, ALWAYS, 0, "Accessible Max Address Configuration"},
    {119, 9, 120, 9, "Device statistics notification"},
    {169, 0, ALWAYS, 0, "DATA SET MANAGEMENT with TRIM"},
    {206, 0, ALWAYS, 0, "SMART Command Transport"},
    {206, 1, ALWAYS, 0, "SCT read, write long"},
    {206, 2, ALWAYS, 0, "SCT write same"},
    {206, 3, ALWAYS, 0, "SCT error recovery control"},
    {206, 4, ALWAYS, 0, "SCT feature control"},
    {206, 5, ALWAYS, 0, "SCT data tables"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

_Static_assert(COUNT(features) <= SATED_ATA_FEATURES, "sated_ata_identify has too few places for features");

void ata_features_decode(const struct ata_words *w, struct sated_ata_identify *out)
{
    for (size_t i = 0; i < COUNT(features); i++) {
        struct sated_ata_feature *f;
        int enabled = 1;
        if (ata_bit(w, features[i].word, features[i].bit) != 1)
            continue;
        f = &out->features[out->n_features++];
        KNOW(ata_feature, f, word, features[i].word);
        KNOW(ata_feature, f, bit, features[i].bit);
        if (features[i].enabled_word == UNTOLD)
            enabled = -1;
        else if (features[i].enabled_word != ALWAYS)
            enabled = ata_bit(w, features[i].enabled_word, features[i].enabled_bit);
        if (enabled >= 0)
            KNOW(ata_feature, f, enabled, (uint32_t)enabled);
        memcpy(f->name, features[i].name, sizeof f->name);
        f->known |= KNOWN_BIT(ata_feature, name);
    }
}

/* w80: bit n is version n. */
static const char *const majors[16] = {
    [1] = "ATA-1",       [2] = "ATA-2",       [3] = "ATA-3",    [4] = "ATA/ATAPI-4", [5] = "ATA/ATAPI-5",
    [6] = "ATA/ATAPI-6", [7] = "ATA/ATAPI-7", [8] = "ATA8-ACS", [9] = "ACS-2",       [10] = "ACS-3",
    [11] = "ACS-4",      [12] = "ACS-5",      [13] = "ACS-6",
};

/* w81 (ACS-4 table 57 and its predecessors). */
static const struct {
    uint16_t code;
    char name[46];
} minors[] = {
    {0x0001, "ATA-1 X3T9.2/781D prior to revision 4"},
    {0x0002, "ATA-1 published, ANSI X3.221-1994"},
    {0x0003, "ATA-1 X3T9.2/781D revision 4"},
    {0x0004, "ATA-2 published, ANSI X3.279-1996"},
    {0x0005, "ATA-2 X3T10/948D prior to revision 2k"},
    {0x0006, "ATA-3 X3T10/2008D revision 1"},
    {0x0007, "ATA-2 X3T10/948D revision 2k"},
    {0x0008, "ATA-3 X3T10/2008D revision 0"},
    {0x0009, "ATA-2 X3T10/948D revision 3"},
    {0x000a, "ATA-3 published, ANSI X3.298-1997"},
    {0x000b, "ATA-3 X3T10/2008D revision 6"},
    {0x000c, "ATA-3 X3T13/2008D revision 7"},
    {0x000d, "ATA/ATAPI-4 X3T13/1153D revision 6"},
    {0x000e, "ATA/ATAPI-4 T13/1153D revision 13"},
    {0x000f, "ATA/ATAPI-4 X3T13/1153D revision 7"},
    {0x0010, "ATA/ATAPI-4 T13/1153D revision 18"},
    {0x0011, "ATA/ATAPI-4 T13/1153D revision 15"},
    {0x0012, "ATA/ATAPI-4 published, ANSI NCITS 317-1998"},
    {0x0013, "ATA/ATAPI-5 T13/1321D revision 3"},
    {0x0014, "ATA/ATAPI-4 T13/1153D revision 14"},
    {0x0015, "ATA/ATAPI-5 T13/1321D revision 1"},
    {0x0016, "ATA/ATAPI-5 published, ANSI NCITS 340-2000"},
    {0x0017, "ATA/ATAPI-4 T13/1153D revision 17"},
    {0x0018, "ATA/ATAPI-6 T13/1410D revision 0"},
    {0x0019, "ATA/ATAPI-6 T13/1410D revision 3a"},
    {0x001a, "ATA/ATAPI-7 T13/1532D revision 1"},
    {0x001b, "ATA/ATAPI-6 T13/1410D revision 2"},
    {0x001c, "ATA/ATAPI-6 T13/1410D revision 1"},
    {0x001d, "ATA/ATAPI-7 published, ANSI INCITS 397-2005"},
    {0x001e, "ATA/ATAPI-7 T13/1532D revision 0"},
    {0x001f, "ACS-3 T13/2161-D revision 3b"},
    {0x0021, "ATA/ATAPI-7 T13/1532D revision 4a"},
    {0x0022, "ATA/ATAPI-6 published, ANSI INCITS 361-2002"},
    {0x0027, "ATA8-ACS T13/1699-D revision 3c"},
    {0x0028, "ATA8-ACS T13/1699-D revision 6"},
    {0x0029, "ATA8-ACS T13/1699-D revision 4"},
    {0x0030, "ACS-5 T13/BSR INCITS 558 revision 10"},
    {0x0031, "ACS-2 T13/2015-D revision 2"},
    {0x0033, "ATA8-ACS T13/1699-D revision 3e"},
    {0x0039, "ATA8-ACS T13/1699-D revision 4c"},
    {0x0042, "ATA8-ACS T13/1699-D revision 3f"},
    {0x0052, "ATA8-ACS T13/1699-D revision 3b"},
    {0x005e, "ACS-4 T13/BSR INCITS 529 revision 5"},
    {0x006d, "ACS-3 T13/2161-D revision 5"},
    {0x0073, "ACS-4 published, ANSI INCITS 529-2018"},
    {0x0082, "ACS-2 published, ANSI INCITS 482-2012"},
    {0x009c, "ACS-4 T13/BSR INCITS 529 revision 18"},
    {0x0107, "ATA8-ACS T13/1699-D revision 2d"},
    {0x010a, "ACS-3 published, ANSI INCITS 522-2014"},
    {0x0110, "ACS-2 T13/2015-D revision 3"},
    {0x011b, "ACS-3 T13/2161-D revision 4"},
};

/* w222, where it is serial. */
static const char *const transports[12] = {
    "ATA8-AST", "SATA 1.0a", "SATA II Ext", "SATA 2.5", "SATA 2.6", "SATA 3.0",
    "SATA 3.1", "SATA 3.2",  "SATA 3.3",    "SATA 3.4", "SATA 3.5", NULL,
};

static void copy(char *out, size_t cap, const char *name)
{
    snprintf(out, cap, "%s", name);
}

void ata_versions_decode(const struct ata_words *w, struct sated_ata_identify *out)
{
    uint16_t major = ata_word(w, 80), minor = ata_word(w, 81), transport = ata_word(w, 222);
    if (ata_word_valid(w, 80) && major) {
        KNOW(ata_identify, out, major_versions, major);
        for (int i = 1; i < 16; i++)
            if (major >> i & 1 && majors[i]) {
                copy(out->version, sizeof out->version, majors[i]);
                out->known |= KNOWN_BIT(ata_identify, version);
            }
    }
    if (ata_word_valid(w, 81) && minor) {
        KNOW(ata_identify, out, minor_version, minor);
        for (size_t i = 0; i < COUNT(minors); i++)
            if (minors[i].code == minor) {
                copy(out->version, sizeof out->version, minors[i].name);
                out->known |= KNOWN_BIT(ata_identify, version);
            }
    }
    if (ata_word_valid(w, 222) && transport) {
        KNOW(ata_link, &out->link, type, transport >> 12);
        KNOW(ata_link, &out->link, versions, transport & 0x0fff);
        for (int i = 0; i < 11 && transport >> 12 == 1; i++)
            if (transport >> i & 1) {
                copy(out->link.version, sizeof out->link.version, transports[i]);
                out->link.known |= KNOWN_BIT(ata_link, version);
            }
        if (ata_word_valid(w, 223) && ata_word(w, 223))
            KNOW(ata_link, &out->link, minor_version, ata_word(w, 223));
    }
}
