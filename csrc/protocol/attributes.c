/* SPDX-License-Identifier: MIT */
/* What SMART attributes are called, how their raw bytes read and what they count: for every drive as far as makers agree,
 * and for drive families that are known. Names are those that smartctl has made common. */
#include <sated/ata.h>

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_ata.h"

#define MIB (UINT32_C(1) << 20)
#define GIB (UINT32_C(1) << 30)

/* Short names for the table. */
enum {
    N = SATED_ATA_RAW48,
    N24 = SATED_ATA_RAW24_RAW8,
    N16 = SATED_ATA_RAW16_RAW16,
    AVG = SATED_ATA_RAW16_AVG16,
    PAIR = SATED_ATA_RAW16_PAIR,
    TEMP = SATED_ATA_TEMPERATURE,
};

enum kind {
    ANY,
    SSD, /* the name holds for solid-state drives only */
    DISK,
};

struct attribute {
    uint8_t id;
    uint8_t format;  /* enum sated_ata_raw_format */
    uint8_t kind;    /* enum kind */
    uint8_t meaning; /* enum sated_ata_meaning */
    uint32_t unit;   /* bytes of one count, 0 = not known */
    char name[32];
};

#define MEANS(what) SATED_ATA_MEANS_##what

/* Makers agree on these so far that smartctl shows them for drives it does not know; on units nobody agrees. */
static const struct attribute common[] = {
    {1, N, ANY, MEANS(NOTHING), 0, "Raw_Read_Error_Rate"},
    {2, N, ANY, MEANS(NOTHING), 0, "Throughput_Performance"},
    {3, AVG, ANY, MEANS(NOTHING), 0, "Spin_Up_Time"},
    {4, N, ANY, MEANS(NOTHING), 0, "Start_Stop_Count"},
    {5, N16, ANY, MEANS(REALLOCATED), 0, "Reallocated_Sector_Ct"},
    {6, N, DISK, MEANS(NOTHING), 0, "Read_Channel_Margin"},
    {7, N, DISK, MEANS(NOTHING), 0, "Seek_Error_Rate"},
    {8, N, DISK, MEANS(NOTHING), 0, "Seek_Time_Performance"},
    {9, N24, ANY, MEANS(POWER_ON_HOURS), 0, "Power_On_Hours"},
    {10, N, DISK, MEANS(NOTHING), 0, "Spin_Retry_Count"},
    {11, N, DISK, MEANS(NOTHING), 0, "Calibration_Retry_Count"},
    {12, N, ANY, MEANS(POWER_CYCLES), 0, "Power_Cycle_Count"},
    {13, N, ANY, MEANS(NOTHING), 0, "Read_Soft_Error_Rate"},
    {22, N, DISK, MEANS(NOTHING), 0, "Helium_Level"},
    {23, N, DISK, MEANS(NOTHING), 0, "Helium_Condition_Lower"},
    {24, N, DISK, MEANS(NOTHING), 0, "Helium_Condition_Upper"},
    {175, N, SSD, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count_Chip"},
    {176, N, SSD, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count_Chip"},
    {177, N, SSD, MEANS(NOTHING), 0, "Wear_Leveling_Count"},
    {178, N, SSD, MEANS(NOTHING), 0, "Used_Rsvd_Blk_Cnt_Chip"},
    {179, N, SSD, MEANS(NOTHING), 0, "Used_Rsvd_Blk_Cnt_Tot"},
    {180, N, SSD, MEANS(NOTHING), 0, "Unused_Rsvd_Blk_Cnt_Tot"},
    {181, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Cnt_Total"},
    {182, N, SSD, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count_Total"},
    {183, N, ANY, MEANS(NOTHING), 0, "Runtime_Bad_Block"},
    {184, N, ANY, MEANS(NOTHING), 0, "End-to-End_Error"},
    {187, N, ANY, MEANS(UNCORRECTABLE), 0, "Reported_Uncorrect"},
    {188, N, ANY, MEANS(NOTHING), 0, "Command_Timeout"},
    {189, N, DISK, MEANS(NOTHING), 0, "High_Fly_Writes"},
    {190, TEMP, ANY, MEANS(TEMPERATURE), 0, "Airflow_Temperature_Cel"},
    {191, N, DISK, MEANS(NOTHING), 0, "G-Sense_Error_Rate"},
    {192, N, ANY, MEANS(NOTHING), 0, "Power-Off_Retract_Count"},
    {193, N, DISK, MEANS(NOTHING), 0, "Load_Cycle_Count"},
    {194, TEMP, ANY, MEANS(TEMPERATURE), 0, "Temperature_Celsius"},
    {195, N, ANY, MEANS(NOTHING), 0, "Hardware_ECC_Recovered"},
    {196, N16, ANY, MEANS(NOTHING), 0, "Reallocated_Event_Count"},
    {197, N, ANY, MEANS(PENDING), 0, "Current_Pending_Sector"},
    {198, N, ANY, MEANS(NOTHING), 0, "Offline_Uncorrectable"},
    {199, N, ANY, MEANS(LINK_ERRORS), 0, "UDMA_CRC_Error_Count"},
    {200, N, DISK, MEANS(NOTHING), 0, "Multi_Zone_Error_Rate"},
    {201, N, DISK, MEANS(NOTHING), 0, "Soft_Read_Error_Rate"},
    {202, N, DISK, MEANS(NOTHING), 0, "Data_Address_Mark_Errs"},
    {203, N, ANY, MEANS(NOTHING), 0, "Run_Out_Cancel"},
    {204, N, ANY, MEANS(NOTHING), 0, "Soft_ECC_Correction"},
    {205, N, ANY, MEANS(NOTHING), 0, "Thermal_Asperity_Rate"},
    {206, N, DISK, MEANS(NOTHING), 0, "Flying_Height"},
    {207, N, DISK, MEANS(NOTHING), 0, "Spin_High_Current"},
    {208, N, DISK, MEANS(NOTHING), 0, "Spin_Buzz"},
    {209, N, DISK, MEANS(NOTHING), 0, "Offline_Seek_Performnce"},
    {220, N, DISK, MEANS(NOTHING), 0, "Disk_Shift"},
    {221, N, DISK, MEANS(NOTHING), 0, "G-Sense_Error_Rate"},
    {222, N, DISK, MEANS(NOTHING), 0, "Loaded_Hours"},
    {223, N, DISK, MEANS(NOTHING), 0, "Load_Retry_Count"},
    {224, N, DISK, MEANS(NOTHING), 0, "Load_Friction"},
    {225, N, DISK, MEANS(NOTHING), 0, "Load_Cycle_Count"},
    {226, N, DISK, MEANS(NOTHING), 0, "Load-in_Time"},
    {227, N, DISK, MEANS(NOTHING), 0, "Torq-amp_Count"},
    {228, N, ANY, MEANS(NOTHING), 0, "Power-off_Retract_Count"},
    {230, N, DISK, MEANS(NOTHING), 0, "Head_Amplitude"},
    {231, N, DISK, MEANS(NOTHING), 0, "Temperature_Celsius"},
    {232, N, ANY, MEANS(SPARE_LEFT), 0, "Available_Reservd_Space"},
    {233, N, SSD, MEANS(LIFE_LEFT), 0, "Media_Wearout_Indicator"},
    {240, N24, DISK, MEANS(NOTHING), 0, "Head_Flying_Hours"},
    {241, N, ANY, MEANS(HOST_WRITES), 0, "Total_LBAs_Written"},
    {242, N, ANY, MEANS(HOST_READS), 0, "Total_LBAs_Read"},
    {250, N, ANY, MEANS(NOTHING), 0, "Read_Error_Retry_Rate"},
    {254, N, DISK, MEANS(NOTHING), 0, "Free_Fall_Sensor"},
};

/* Intel's own controller: X25, 320, 710, 730, DC S3500 to S3710. */
static const struct attribute intel[] = {
    {170, N, ANY, MEANS(SPARE_LEFT), 0, "Reserve_Block_Count"},
    {171, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count"},
    {172, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count"},
    {174, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unexpect_Power_Loss_Ct"},
    {183, N, ANY, MEANS(NOTHING), 0, "SATA_Downshift_Count"},
    {192, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unsafe_Shutdown_Count"},
    {199, N, ANY, MEANS(LINK_ERRORS), 0, "CRC_Error_Count"},
    {225, N, ANY, MEANS(HOST_WRITES), 32 * MIB, "Host_Writes_32MiB"},
    {226, N, ANY, MEANS(NOTHING), 0, "Workld_Media_Wear_Indic"},
    {227, N, ANY, MEANS(NOTHING), 0, "Workld_Host_Reads_Perc"},
    {228, N, ANY, MEANS(NOTHING), 0, "Workload_Minutes"},
    {233, N, ANY, MEANS(LIFE_LEFT), 0, "Media_Wearout_Indicator"},
    {234, N, ANY, MEANS(NOTHING), 0, "Thermal_Throttle"},
    {241, N, ANY, MEANS(HOST_WRITES), 32 * MIB, "Host_Writes_32MiB"},
    {242, N, ANY, MEANS(HOST_READS), 32 * MIB, "Host_Reads_32MiB"},
    {243, N, ANY, MEANS(MEDIA_WRITES), 32 * MIB, "NAND_Writes_32MiB"},
};

static const struct attribute samsung[] = {
    {170, N, ANY, MEANS(NOTHING), 0, "Unused_Rsvd_Blk_Ct_Chip"},
    {171, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count_Chip"},
    {172, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count_Chip"},
    {173, N, ANY, MEANS(NOTHING), 0, "Wear_Leveling_Count"},
    {174, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unexpect_Power_Loss_Ct"},
    {177, N, ANY, MEANS(LIFE_LEFT), 0, "Wear_Leveling_Count"},
    {187, N, ANY, MEANS(UNCORRECTABLE), 0, "Uncorrectable_Error_Cnt"},
    {195, N, ANY, MEANS(NOTHING), 0, "ECC_Error_Rate"},
    {199, N, ANY, MEANS(LINK_ERRORS), 0, "CRC_Error_Count"},
    {201, N, ANY, MEANS(NOTHING), 0, "Supercap_Status"},
    {202, N, ANY, MEANS(NOTHING), 0, "Exception_Mode_Status"},
    {235, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "POR_Recovery_Count"},
    {241, N, ANY, MEANS(HOST_WRITES), 512, "Total_LBAs_Written"},
    {242, N, ANY, MEANS(HOST_READS), 512, "Total_LBAs_Read"},
    {243, N, ANY, MEANS(NOTHING), 0, "SATA_Downshift_Ct"},
    {244, N, ANY, MEANS(NOTHING), 0, "Thermal_Throttle_St"},
    {245, N, ANY, MEANS(NOTHING), 0, "Timed_Workld_Media_Wear"},
    {246, N, ANY, MEANS(NOTHING), 0, "Timed_Workld_RdWr_Ratio"},
    {247, N, ANY, MEANS(NOTHING), 0, "Timed_Workld_Timer"},
    {251, N, ANY, MEANS(NOTHING), 0, "NAND_Writes"},
};

static const struct attribute phison[] = {
    {167, N, ANY, MEANS(NOTHING), 0, "Write_Protect_Mode"},
    {168, N, ANY, MEANS(LINK_ERRORS), 0, "SATA_Phy_Error_Count"},
    {169, N, ANY, MEANS(NOTHING), 0, "Bad_Block_Rate"},
    {170, PAIR, ANY, MEANS(NOTHING), 0, "Bad_Blk_Ct_Erl/Lat"},
    {172, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count"},
    {173, AVG, ANY, MEANS(NOTHING), 0, "MaxAvgErase_Ct"},
    {181, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count"},
    {182, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count"},
    {192, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unsafe_Shutdown_Count"},
    {199, N, ANY, MEANS(LINK_ERRORS), 0, "SATA_CRC_Error_Count"},
    {218, N, ANY, MEANS(NOTHING), 0, "CRC_Error_Count"},
    {231, N, ANY, MEANS(LIFE_LEFT_RAW), 0, "SSD_Life_Left"},
    {233, N, ANY, MEANS(MEDIA_WRITES), GIB, "Flash_Writes_GiB"},
    {241, N, ANY, MEANS(HOST_WRITES), GIB, "Lifetime_Writes_GiB"},
    {242, N, ANY, MEANS(HOST_READS), GIB, "Lifetime_Reads_GiB"},
    {244, N, ANY, MEANS(ERASE_COUNT), 0, "Average_Erase_Count"},
    {245, N, ANY, MEANS(NOTHING), 0, "Max_Erase_Count"},
    {246, N, ANY, MEANS(NOTHING), 0, "Total_Erase_Count"},
};

static const struct attribute sandisk[] = {
    {165, N, ANY, MEANS(NOTHING), 0, "Total_Write/Erase_Count"},
    {166, N, ANY, MEANS(NOTHING), 0, "Min_W/E_Cycle"},
    {167, N, ANY, MEANS(NOTHING), 0, "Min_Bad_Block/Die"},
    {168, N, ANY, MEANS(NOTHING), 0, "Maximum_Erase_Cycle"},
    {169, N, ANY, MEANS(NOTHING), 0, "Total_Bad_Block"},
    {171, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count"},
    {172, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count"},
    {173, N, ANY, MEANS(ERASE_COUNT), 0, "Avg_Write/Erase_Count"},
    {174, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unexpect_Power_Loss_Ct"},
    {199, N, ANY, MEANS(LINK_ERRORS), 0, "SATA_CRC_Error"},
    {212, N, ANY, MEANS(LINK_ERRORS), 0, "SATA_PHY_Error"},
    {230, N, ANY, MEANS(NOTHING), 0, "Perc_Write/Erase_Count"},
    {232, N, ANY, MEANS(SPARE_LEFT), 0, "Perc_Avail_Resrvd_Space"},
    {233, N, ANY, MEANS(MEDIA_WRITES), GIB, "Total_NAND_Writes_GiB"},
    {234, N, ANY, MEANS(NOTHING), 0, "Perc_Write/Erase_Ct_BC"},
    {241, N, ANY, MEANS(HOST_WRITES), GIB, "Total_Writes_GiB"},
    {242, N, ANY, MEANS(HOST_READS), GIB, "Total_Reads_GiB"},
    {244, N, ANY, MEANS(NOTHING), 0, "Thermal_Throttle"},
};

static const struct attribute crucial[] = {
    {5, N16, ANY, MEANS(REALLOCATED), 0, "Reallocate_NAND_Blk_Cnt"},
    {171, N, ANY, MEANS(PROGRAM_FAILS), 0, "Program_Fail_Count"},
    {172, N, ANY, MEANS(ERASE_FAILS), 0, "Erase_Fail_Count"},
    {173, N, ANY, MEANS(ERASE_COUNT), 0, "Ave_Block-Erase_Count"},
    {174, N, ANY, MEANS(UNSAFE_SHUTDOWNS), 0, "Unexpect_Power_Loss_Ct"},
    {180, N, ANY, MEANS(NOTHING), 0, "Unused_Reserve_NAND_Blk"},
    {183, N, ANY, MEANS(NOTHING), 0, "SATA_Interfac_Downshift"},
    {184, N, ANY, MEANS(NOTHING), 0, "Error_Correction_Count"},
    {197, N, ANY, MEANS(PENDING), 0, "Current_Pending_ECC_Cnt"},
    {202, N, ANY, MEANS(LIFE_LEFT), 0, "Percent_Lifetime_Remain"},
    {206, N, ANY, MEANS(NOTHING), 0, "Write_Error_Rate"},
    {210, N, ANY, MEANS(NOTHING), 0, "Success_RAIN_Recov_Cnt"},
    {246, N, ANY, MEANS(HOST_WRITES), 512, "Total_LBAs_Written"},
    {247, N, ANY, MEANS(NOTHING), 0, "Host_Program_Page_Count"},
    {248, N, ANY, MEANS(NOTHING), 0, "FTL_Program_Page_Count"},
};

#define LIST(table) table, sizeof(table) / sizeof *(table)

static const struct {
    const char *family;
    const char *models; /* patterns, one '|' between two */
    const struct attribute *attributes;
    size_t n;
} families[] = {
    {"Intel X25-E, X25-M, X25-V SSDs", "INTEL SSDSA?M*|INTEL SSDSA??*G1*|INTEL SSDSA??*G2*", LIST(intel)},
    {"Intel 320 Series SSDs", "INTEL SSDSA?C*G3|INTEL SSDSA?N*G3", LIST(intel)},
    {"Intel 710 Series SSDs", "INTEL SSDSA2BZ*", LIST(intel)},
    {"Intel 730, DC S3500 to S3710 Series SSDs",
     "INTEL SSDSC?BA*|INTEL SSDSC?BB*|INTEL SSDSC?BG*|INTEL SSDSC?BP*|INTEL SSDSC?BX*", LIST(intel)},
    {"Samsung based SSDs", "Samsung SSD 8*|SAMSUNG SSD 830*|SAMSUNG MZ7*|SAMSUNG MZM*|SAMSUNG MZN*", LIST(samsung)},
    {"Phison Driven SSDs",
     "KINGSTON SA400*|KINGSTON SEDC400S37*|KINGSTON SKC310S3*|KINGSTON SKC400S37*|KINGSTON SHSS37A*", LIST(phison)},
    {"SanDisk based SSDs", "SanDisk SD6*|SanDisk SD7*|SanDisk SD8*|SanDisk SDSSD*|SanDisk X*", LIST(sandisk)},
    {"Crucial/Micron Client SSDs", "Crucial_CT*M500*|Crucial_CT*M550*|Crucial_CT*MX*|CT*MX500*|CT*BX500*",
     LIST(crucial)},
};

/* '*' is any text, '?' any character; the pattern ends at end. */
static bool matches(const char *pattern, const char *end, const char *text)
{
    for (; pattern < end; pattern++, text++) {
        if (*pattern == '*') {
            do {
                if (matches(pattern + 1, end, text))
                    return true;
            } while (*text++);
            return false;
        }
        if (!*text || (*pattern != '?' && *pattern != *text))
            return false;
    }
    return !*text;
}

static bool matches_any(const char *patterns, const char *text)
{
    for (;;) {
        const char *end = patterns + strcspn(patterns, "|");
        if (matches(patterns, end, text))
            return true;
        if (!*end)
            return false;
        patterns = end + 1;
    }
}

static const struct attribute *find(const struct attribute *table, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].id == id)
            return table + i;
    return NULL;
}

int sated_ata_attribute_info(const char *model, int32_t rotating, uint32_t id, struct sated_ata_attribute_info *out)
{
    const struct attribute *a = NULL;
    const char *unknown = "Unknown_Attribute";
    memset(out, 0, sizeof *out);
    if (!id || id > 255)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "SMART attribute %u: an identifier is 1 to 255",
                         (unsigned)id);
    for (size_t i = 0; model && i < sizeof families / sizeof *families; i++)
        if (matches_any(families[i].models, model)) {
            a = find(families[i].attributes, families[i].n, id);
            snprintf(out->family, sizeof out->family, "%s", families[i].family);
            out->known |= KNOWN_BIT(ata_attribute_info, family);
            break;
        }
    if (!a) {
        a = find(LIST(common), id);
        /* A name that only disks or only SSDs have says nothing about the other kind. */
        if (a && ((a->kind == DISK && rotating == 0) || (a->kind == SSD && rotating == 1))) {
            unknown = rotating ? "Unknown_HDD_Attribute" : "Unknown_SSD_Attribute";
            a = NULL;
        }
    }
    snprintf(out->name, sizeof out->name, "%s", a ? a->name : unknown);
    out->known |= KNOWN_BIT(ata_attribute_info, name);
    KNOW(ata_attribute_info, out, format, a ? a->format : (uint32_t)SATED_ATA_RAW48);
    KNOW(ata_attribute_info, out, meaning, a ? a->meaning : (uint32_t)SATED_ATA_MEANS_NOTHING);
    if (a && a->unit)
        KNOW(ata_attribute_info, out, unit_bytes, a->unit);
    return 0;
}

static int32_t celsius(uint8_t b)
{
    return b < 128 ? b : b - 256;
}

/* The current temperature is the lowest byte. Above it, makers put the extremes: as words in either order, each with an
 * upper byte of 0 (or FFh for one below zero). Any other layout tells nothing but the current one. */
static void decode_temperature(const uint8_t *b, struct sated_ata_attribute_raw *out)
{
    int32_t now = celsius(b[0]), one = celsius(b[2]), two = celsius(b[4]);
    int32_t low = one < two ? one : two, high = one < two ? two : one;
    bool words = true;
    for (int i = 0; i < 6; i += 2)
        words = words && (b[i + 1] == 0 || (b[i + 1] == 0xff && b[i] >= 128));
    KNOW(ata_attribute_raw, out, temperature_c, now);
    if (words && (one || two) && low <= now && now <= high) {
        KNOW(ata_attribute_raw, out, min_c, low);
        KNOW(ata_attribute_raw, out, max_c, high);
    }
}

int sated_ata_decode_attribute_raw(const void *raw, size_t n, uint32_t format, struct sated_ata_attribute_raw *out)
{
    const uint8_t *b = raw;
    memset(out, 0, sizeof *out);
    if (n != 6)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "SMART attribute: %zu raw bytes were given, not 6", n);
    switch (format) {
    case SATED_ATA_RAW48:
        KNOW(ata_attribute_raw, out, value, bytes_le32(b) | (uint64_t)bytes_le16(b + 4) << 32);
        return 0;
    case SATED_ATA_RAW24_RAW8: KNOW(ata_attribute_raw, out, value, bytes_le16(b) | (uint64_t)b[2] << 16); return 0;
    case SATED_ATA_RAW16_RAW16: KNOW(ata_attribute_raw, out, value, bytes_le16(b)); return 0;
    case SATED_ATA_RAW16_AVG16:
        KNOW(ata_attribute_raw, out, value, bytes_le16(b));
        if (bytes_le16(b + 2))
            KNOW(ata_attribute_raw, out, second, bytes_le16(b + 2));
        return 0;
    case SATED_ATA_RAW16_PAIR:
        KNOW(ata_attribute_raw, out, value, bytes_le16(b + 4));
        KNOW(ata_attribute_raw, out, second, bytes_le16(b));
        return 0;
    case SATED_ATA_TEMPERATURE: decode_temperature(b, out); return 0;
    default:
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "SMART attribute: format %u is none of 0 to 5",
                         (unsigned)format);
    }
}

int sated_ata_calibration(uint64_t before, uint64_t after, uint64_t bytes_written, struct sated_ata_calibration *out)
{
    static const uint64_t units[] = {512, 4096, 512000, MIB, 16 * MIB, 32 * MIB, 64 * MIB, GIB, 1000000000};
    uint64_t counts = after - before, unit = 0;
    memset(out, 0, sizeof *out);
    KNOW_LIST(ata_calibration, out, n_candidates, candidates);
    if (after <= before || !bytes_written)
        return 0;
    KNOW(ata_calibration, out, step_bytes, (double)bytes_written / (double)counts);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double told = (double)counts * (double)units[i], off = told - (double)bytes_written;
        if ((off < 0 ? -off : off) > (double)units[i] + 0.01 * (double)bytes_written)
            continue;
        unit = units[i];
        if (out->n_candidates < sizeof out->candidates / sizeof *out->candidates)
            out->candidates[out->n_candidates++] = unit;
    }
    if (out->n_candidates != 1)
        return 0;
    KNOW(ata_calibration, out, unit_bytes, unit);
    KNOW(ata_calibration, out, error, out->step_bytes / (double)unit - 1);
    if (after <= UINT64_MAX / unit)
        KNOW(ata_calibration, out, lifetime_bytes, after * unit);
    return 0;
}
