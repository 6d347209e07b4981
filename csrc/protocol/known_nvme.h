/* SPDX-License-Identifier: MIT */
/* Made by known.py from <sated/nvme.h>: the place of each member, which is its bit in `known`. */
#ifndef SATED_PROTOCOL_KNOWN_NVME_H
#define SATED_PROTOCOL_KNOWN_NVME_H

#include "protocol/known.h"

/* clang-format off */
enum {
    known_nvme_id_ctrl_general_sn = 1,
    known_nvme_id_ctrl_general_mn = 2,
    known_nvme_id_ctrl_general_fr = 3,
    known_nvme_id_ctrl_general_fguid = 4,
    known_nvme_id_ctrl_general_ver = 5,
    known_nvme_id_ctrl_general_rtd3r = 6,
    known_nvme_id_ctrl_general_rtd3e = 7,
    known_nvme_id_ctrl_general_oaes = 8,
    known_nvme_id_ctrl_general_ctratt = 9,
    known_nvme_id_ctrl_general_ieee = 10,
    known_nvme_id_ctrl_general_vid = 11,
    known_nvme_id_ctrl_general_ssvid = 12,
    known_nvme_id_ctrl_general_cntlid = 13,
    known_nvme_id_ctrl_general_rrls = 14,
    known_nvme_id_ctrl_general_crdt1 = 15,
    known_nvme_id_ctrl_general_crdt2 = 16,
    known_nvme_id_ctrl_general_crdt3 = 17,
    known_nvme_id_ctrl_general_rab = 18,
    known_nvme_id_ctrl_general_cmic = 19,
    known_nvme_id_ctrl_general_mdts = 20,
    known_nvme_id_ctrl_general_cntrltype = 21,
    known_nvme_id_ctrl_general_nvmsr = 22,
    known_nvme_id_ctrl_general_vwci = 23,
    known_nvme_id_ctrl_general_mec = 24,
};

enum {
    known_nvme_id_ctrl_admin_tnvmcap = 1,
    known_nvme_id_ctrl_admin_unvmcap = 2,
    known_nvme_id_ctrl_admin_megcap = 3,
    known_nvme_id_ctrl_admin_hmpre = 4,
    known_nvme_id_ctrl_admin_hmmin = 5,
    known_nvme_id_ctrl_admin_rpmbs = 6,
    known_nvme_id_ctrl_admin_sanicap = 7,
    known_nvme_id_ctrl_admin_hmminds = 8,
    known_nvme_id_ctrl_admin_anagrpmax = 9,
    known_nvme_id_ctrl_admin_nanagrpid = 10,
    known_nvme_id_ctrl_admin_pels = 11,
    known_nvme_id_ctrl_admin_oacs = 12,
    known_nvme_id_ctrl_admin_wctemp = 13,
    known_nvme_id_ctrl_admin_cctemp = 14,
    known_nvme_id_ctrl_admin_mtfa = 15,
    known_nvme_id_ctrl_admin_edstt = 16,
    known_nvme_id_ctrl_admin_kas = 17,
    known_nvme_id_ctrl_admin_hctma = 18,
    known_nvme_id_ctrl_admin_mntmt = 19,
    known_nvme_id_ctrl_admin_mxtmt = 20,
    known_nvme_id_ctrl_admin_hmmaxd = 21,
    known_nvme_id_ctrl_admin_nsetidmax = 22,
    known_nvme_id_ctrl_admin_endgidmax = 23,
    known_nvme_id_ctrl_admin_domainid = 24,
    known_nvme_id_ctrl_admin_acl = 25,
    known_nvme_id_ctrl_admin_aerl = 26,
    known_nvme_id_ctrl_admin_frmw = 27,
    known_nvme_id_ctrl_admin_lpa = 28,
    known_nvme_id_ctrl_admin_elpe = 29,
    known_nvme_id_ctrl_admin_npss = 30,
    known_nvme_id_ctrl_admin_avscc = 31,
    known_nvme_id_ctrl_admin_apsta = 32,
    known_nvme_id_ctrl_admin_dsto = 33,
    known_nvme_id_ctrl_admin_fwug = 34,
    known_nvme_id_ctrl_admin_anatt = 35,
    known_nvme_id_ctrl_admin_anacap = 36,
};

enum {
    known_nvme_id_ctrl_nvm_maxdna = 1,
    known_nvme_id_ctrl_nvm_subnqn = 2,
    known_nvme_id_ctrl_nvm_nn = 3,
    known_nvme_id_ctrl_nvm_sgls = 4,
    known_nvme_id_ctrl_nvm_mnan = 5,
    known_nvme_id_ctrl_nvm_maxcna = 6,
    known_nvme_id_ctrl_nvm_ioccsz = 7,
    known_nvme_id_ctrl_nvm_iorcsz = 8,
    known_nvme_id_ctrl_nvm_oncs = 9,
    known_nvme_id_ctrl_nvm_maxcmd = 10,
    known_nvme_id_ctrl_nvm_fuses = 11,
    known_nvme_id_ctrl_nvm_awun = 12,
    known_nvme_id_ctrl_nvm_awupf = 13,
    known_nvme_id_ctrl_nvm_acwu = 14,
    known_nvme_id_ctrl_nvm_ocfs = 15,
    known_nvme_id_ctrl_nvm_icdoff = 16,
    known_nvme_id_ctrl_nvm_ofcs = 17,
    known_nvme_id_ctrl_nvm_sqes = 18,
    known_nvme_id_ctrl_nvm_cqes = 19,
    known_nvme_id_ctrl_nvm_fna = 20,
    known_nvme_id_ctrl_nvm_vwc = 21,
    known_nvme_id_ctrl_nvm_icsvscc = 22,
    known_nvme_id_ctrl_nvm_nwpc = 23,
    known_nvme_id_ctrl_nvm_fcatt = 24,
    known_nvme_id_ctrl_nvm_msdbd = 25,
};

enum {
    known_nvme_power_state_mp_uw = 1,
    known_nvme_power_state_idlp_uw = 2,
    known_nvme_power_state_actp_uw = 3,
    known_nvme_power_state_enlat_us = 4,
    known_nvme_power_state_exlat_us = 5,
    known_nvme_power_state_nops = 6,
    known_nvme_power_state_rrt = 7,
    known_nvme_power_state_rrl = 8,
    known_nvme_power_state_rwt = 9,
    known_nvme_power_state_rwl = 10,
    known_nvme_power_state_apw = 11,
};

enum {
    known_nvme_id_ctrl_general = 1,
    known_nvme_id_ctrl_admin = 2,
    known_nvme_id_ctrl_nvm = 3,
    known_nvme_id_ctrl_n_psd = 4,
    known_nvme_id_ctrl_psd = 5,
};

enum {
    known_nvme_lba_format_block_bytes = 1,
    known_nvme_lba_format_ms = 2,
    known_nvme_lba_format_lbads = 3,
    known_nvme_lba_format_rp = 4,
};

enum {
    known_nvme_id_ns_nsze = 1,
    known_nvme_id_ns_ncap = 2,
    known_nvme_id_ns_nuse = 3,
    known_nvme_id_ns_nvmcap = 4,
    known_nvme_id_ns_nguid = 5,
    known_nvme_id_ns_eui64 = 6,
    known_nvme_id_ns_mcl = 7,
    known_nvme_id_ns_anagrpid = 8,
    known_nvme_id_ns_nawun = 9,
    known_nvme_id_ns_nawupf = 10,
    known_nvme_id_ns_nacwu = 11,
    known_nvme_id_ns_nabsn = 12,
    known_nvme_id_ns_nabo = 13,
    known_nvme_id_ns_nabspf = 14,
    known_nvme_id_ns_noiob = 15,
    known_nvme_id_ns_npwg = 16,
    known_nvme_id_ns_npwa = 17,
    known_nvme_id_ns_npdg = 18,
    known_nvme_id_ns_npda = 19,
    known_nvme_id_ns_nows = 20,
    known_nvme_id_ns_mssrl = 21,
    known_nvme_id_ns_nvmsetid = 22,
    known_nvme_id_ns_endgid = 23,
    known_nvme_id_ns_nsfeat = 24,
    known_nvme_id_ns_nlbaf = 25,
    known_nvme_id_ns_flbas = 26,
    known_nvme_id_ns_mc = 27,
    known_nvme_id_ns_dpc = 28,
    known_nvme_id_ns_dps = 29,
    known_nvme_id_ns_nmic = 30,
    known_nvme_id_ns_rescap = 31,
    known_nvme_id_ns_fpi = 32,
    known_nvme_id_ns_dlfeat = 33,
    known_nvme_id_ns_msrc = 34,
    known_nvme_id_ns_nulbaf = 35,
    known_nvme_id_ns_nsattr = 36,
    known_nvme_id_ns_extended = 37,
    known_nvme_id_ns_format = 38,
    known_nvme_id_ns_block_bytes = 39,
    known_nvme_id_ns_metadata_bytes = 40,
    known_nvme_id_ns_capacity_bytes = 41,
    known_nvme_id_ns_used_bytes = 42,
    known_nvme_id_ns_n_lbaf = 43,
    known_nvme_id_ns_lbaf = 44,
};

enum {
    known_nvme_independent_ns_anagrpid = 1,
    known_nvme_independent_ns_nvmsetid = 2,
    known_nvme_independent_ns_endgid = 3,
    known_nvme_independent_ns_nsfeat = 4,
    known_nvme_independent_ns_nmic = 5,
    known_nvme_independent_ns_rescap = 6,
    known_nvme_independent_ns_fpi = 7,
    known_nvme_independent_ns_nsattr = 8,
    known_nvme_independent_ns_nstat = 9,
};

enum {
    known_nvme_nvm_ns_lbstm = 1,
    known_nvme_nvm_ns_pic = 2,
    known_nvme_nvm_ns_n_elbaf = 3,
    known_nvme_nvm_ns_elbaf = 4,
};

enum {
    known_nvme_nvm_ctrl_vsl = 1,
    known_nvme_nvm_ctrl_wzsl = 2,
    known_nvme_nvm_ctrl_wusl = 3,
    known_nvme_nvm_ctrl_dmrl = 4,
    known_nvme_nvm_ctrl_dmrsl = 5,
    known_nvme_nvm_ctrl_dmsl = 6,
};

enum {
    known_nvme_granularity_list_attributes = 1,
    known_nvme_granularity_list_truncated = 2,
    known_nvme_granularity_list_n_granularity = 3,
    known_nvme_granularity_list_reserved = 4,
    known_nvme_granularity_list_granularity = 5,
};

enum {
    known_nvme_uuid_list_truncated = 1,
    known_nvme_uuid_list_n_uuids = 2,
    known_nvme_uuid_list_uuids = 3,
};

enum {
    known_nvme_ns_list_truncated = 1,
    known_nvme_ns_list_n_nsid = 2,
    known_nvme_ns_list_nsid = 3,
};

enum {
    known_nvme_ctrl_list_truncated = 1,
    known_nvme_ctrl_list_n_cntlid = 2,
    known_nvme_ctrl_list_cntlid = 3,
};

enum {
    known_nvme_ns_descs_eui64 = 1,
    known_nvme_ns_descs_nguid = 2,
    known_nvme_ns_descs_uuid = 3,
    known_nvme_ns_descs_csi = 4,
    known_nvme_ns_descs_truncated = 5,
};

enum {
    known_nvme_error_error_count = 1,
    known_nvme_error_lba = 2,
    known_nvme_error_cs = 3,
    known_nvme_error_nsid = 4,
    known_nvme_error_sqid = 5,
    known_nvme_error_cmdid = 6,
    known_nvme_error_status_field = 7,
    known_nvme_error_parm_err_loc = 8,
    known_nvme_error_trtype_spec_info = 9,
    known_nvme_error_phase_tag = 10,
    known_nvme_error_vs = 11,
    known_nvme_error_trtype = 12,
};

enum {
    known_nvme_error_log_truncated = 1,
    known_nvme_error_log_n_entries = 2,
    known_nvme_error_log_entries = 3,
};

enum {
    known_nvme_sensor_sensor = 1,
    known_nvme_sensor_kelvin = 2,
};

enum {
    known_nvme_smart_log_critical_warning = 1,
    known_nvme_smart_log_avail_spare = 2,
    known_nvme_smart_log_spare_thresh = 3,
    known_nvme_smart_log_percent_used = 4,
    known_nvme_smart_log_endu_grp_crit_warn_sumry = 5,
    known_nvme_smart_log_doubts = 6,
    known_nvme_smart_log_temperature = 7,
    known_nvme_smart_log_data_units_read = 8,
    known_nvme_smart_log_data_units_written = 9,
    known_nvme_smart_log_host_reads = 10,
    known_nvme_smart_log_host_writes = 11,
    known_nvme_smart_log_ctrl_busy_time = 12,
    known_nvme_smart_log_power_cycles = 13,
    known_nvme_smart_log_power_on_hours = 14,
    known_nvme_smart_log_unsafe_shutdowns = 15,
    known_nvme_smart_log_media_errors = 16,
    known_nvme_smart_log_num_err_log_entries = 17,
    known_nvme_smart_log_warning_temp_time = 18,
    known_nvme_smart_log_critical_comp_time = 19,
    known_nvme_smart_log_thm_temp1_trans_count = 20,
    known_nvme_smart_log_thm_temp2_trans_count = 21,
    known_nvme_smart_log_thm_temp1_total_time = 22,
    known_nvme_smart_log_thm_temp2_total_time = 23,
    known_nvme_smart_log_n_sensors = 24,
    known_nvme_smart_log_sensors = 25,
};

enum {
    known_nvme_apst_n_transitions = 1,
    known_nvme_apst_reserved = 2,
    known_nvme_apst_transitions = 3,
};

enum {
    known_nvme_firmware_slot_slot = 1,
    known_nvme_firmware_slot_revision = 2,
};

enum {
    known_nvme_firmware_log_afi = 1,
    known_nvme_firmware_log_active = 2,
    known_nvme_firmware_log_next = 3,
    known_nvme_firmware_log_n_slots = 4,
    known_nvme_firmware_log_slots = 5,
};

enum {
    known_nvme_effects_log_acs = 1,
    known_nvme_effects_log_iocs = 2,
};

enum {
    known_nvme_self_test_result_poh = 1,
    known_nvme_self_test_result_flba = 2,
    known_nvme_self_test_result_nsid = 3,
    known_nvme_self_test_result_code = 4,
    known_nvme_self_test_result_result = 5,
    known_nvme_self_test_result_segment = 6,
    known_nvme_self_test_result_sct = 7,
    known_nvme_self_test_result_sc = 8,
    known_nvme_self_test_result_reserved = 9,
};

enum {
    known_nvme_self_test_log_operation = 1,
    known_nvme_self_test_log_completion = 2,
    known_nvme_self_test_log_truncated = 3,
    known_nvme_self_test_log_n_results = 4,
    known_nvme_self_test_log_results = 5,
};

enum {
    known_nvme_telemetry_header_lid = 1,
    known_nvme_telemetry_header_host_generation = 2,
    known_nvme_telemetry_header_ctrl_available = 3,
    known_nvme_telemetry_header_ctrl_generation = 4,
    known_nvme_telemetry_header_ieee = 5,
    known_nvme_telemetry_header_area1_last = 6,
    known_nvme_telemetry_header_area2_last = 7,
    known_nvme_telemetry_header_area3_last = 8,
    known_nvme_telemetry_header_area4_last = 9,
    known_nvme_telemetry_header_reason = 10,
};

enum {
    known_nvme_endurance_group_log_critical_warning = 1,
    known_nvme_endurance_group_log_features = 2,
    known_nvme_endurance_group_log_avl_spare = 3,
    known_nvme_endurance_group_log_avl_spare_threshold = 4,
    known_nvme_endurance_group_log_percent_used = 5,
    known_nvme_endurance_group_log_doubts = 6,
    known_nvme_endurance_group_log_domainid = 7,
    known_nvme_endurance_group_log_endurance_estimate = 8,
    known_nvme_endurance_group_log_data_units_read = 9,
    known_nvme_endurance_group_log_data_units_written = 10,
    known_nvme_endurance_group_log_media_units_written = 11,
    known_nvme_endurance_group_log_host_read_cmds = 12,
    known_nvme_endurance_group_log_host_write_cmds = 13,
    known_nvme_endurance_group_log_media_data_integrity_err = 14,
    known_nvme_endurance_group_log_num_err_info_log_entries = 15,
    known_nvme_endurance_group_log_tegcap = 16,
    known_nvme_endurance_group_log_uegcap = 17,
};

enum {
    known_nvme_persistent_event_header_tll = 1,
    known_nvme_persistent_event_header_timestamp = 2,
    known_nvme_persistent_event_header_poh = 3,
    known_nvme_persistent_event_header_pcc = 4,
    known_nvme_persistent_event_header_tnev = 5,
    known_nvme_persistent_event_header_rci = 6,
    known_nvme_persistent_event_header_lhl = 7,
    known_nvme_persistent_event_header_vid = 8,
    known_nvme_persistent_event_header_ssvid = 9,
    known_nvme_persistent_event_header_generation = 10,
    known_nvme_persistent_event_header_lid = 11,
    known_nvme_persistent_event_header_revision = 12,
    known_nvme_persistent_event_header_sn = 13,
    known_nvme_persistent_event_header_mn = 14,
    known_nvme_persistent_event_header_subnqn = 15,
    known_nvme_persistent_event_header_supported = 16,
};

enum {
    known_nvme_sanitize_log_sprog = 1,
    known_nvme_sanitize_log_sstat = 2,
    known_nvme_sanitize_log_state = 3,
    known_nvme_sanitize_log_passes = 4,
    known_nvme_sanitize_log_global_data_erased = 5,
    known_nvme_sanitize_log_progress = 6,
    known_nvme_sanitize_log_scdw10 = 7,
    known_nvme_sanitize_log_eto = 8,
    known_nvme_sanitize_log_etbe = 9,
    known_nvme_sanitize_log_etce = 10,
    known_nvme_sanitize_log_etond = 11,
    known_nvme_sanitize_log_etbend = 12,
    known_nvme_sanitize_log_etcend = 13,
    known_nvme_sanitize_log_etpvds = 14,
    known_nvme_sanitize_log_sans = 15,
    known_nvme_sanitize_log_fails = 16,
};

enum {
    known_nvme_ocp_smart_log_physical_media_units_written = 1,
    known_nvme_ocp_smart_log_physical_media_units_read = 2,
    known_nvme_ocp_smart_log_bad_user_nand_blocks_raw = 3,
    known_nvme_ocp_smart_log_bad_system_nand_blocks_raw = 4,
    known_nvme_ocp_smart_log_bad_user_nand_blocks_normalized = 5,
    known_nvme_ocp_smart_log_bad_system_nand_blocks_normalized = 6,
    known_nvme_ocp_smart_log_xor_recovery_count = 7,
    known_nvme_ocp_smart_log_uncorrectable_read_error_count = 8,
    known_nvme_ocp_smart_log_soft_ecc_error_count = 9,
    known_nvme_ocp_smart_log_end_to_end_detected_errors = 10,
    known_nvme_ocp_smart_log_end_to_end_corrected_errors = 11,
    known_nvme_ocp_smart_log_system_data_percent_used = 12,
    known_nvme_ocp_smart_log_refresh_counts = 13,
    known_nvme_ocp_smart_log_max_user_data_erase_count = 14,
    known_nvme_ocp_smart_log_min_user_data_erase_count = 15,
    known_nvme_ocp_smart_log_thermal_throttling_events = 16,
    known_nvme_ocp_smart_log_thermal_throttling_status = 17,
    known_nvme_ocp_smart_log_dssd_errata_version = 18,
    known_nvme_ocp_smart_log_dssd_major_version = 19,
    known_nvme_ocp_smart_log_dssd_point_version = 20,
    known_nvme_ocp_smart_log_dssd_minor_version = 21,
    known_nvme_ocp_smart_log_pcie_correctable_error_count = 22,
    known_nvme_ocp_smart_log_incomplete_shutdowns = 23,
    known_nvme_ocp_smart_log_percent_free_blocks = 24,
    known_nvme_ocp_smart_log_capacitor_health = 25,
    known_nvme_ocp_smart_log_unaligned_io = 26,
    known_nvme_ocp_smart_log_security_version_number = 27,
    known_nvme_ocp_smart_log_total_nuse = 28,
    known_nvme_ocp_smart_log_plp_start_count = 29,
    known_nvme_ocp_smart_log_endurance_estimate = 30,
    known_nvme_ocp_smart_log_pcie_link_retraining_count = 31,
    known_nvme_ocp_smart_log_power_state_change_count = 32,
    known_nvme_ocp_smart_log_log_page_version = 33,
};

/* clang-format on */

#endif
