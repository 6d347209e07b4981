/* SPDX-License-Identifier: MIT */
/* Made by known.py from <sated/scsi.h>: the place of each member, which is its bit in `known`. */
#ifndef SATED_PROTOCOL_KNOWN_SCSI_H
#define SATED_PROTOCOL_KNOWN_SCSI_H

#include "protocol/known.h"

/* clang-format off */
enum {
    known_scsi_sense_response_code = 1,
    known_scsi_sense_descriptor_format = 2,
    known_scsi_sense_deferred = 3,
    known_scsi_sense_key = 4,
    known_scsi_sense_asc = 5,
    known_scsi_sense_ascq = 6,
    known_scsi_sense_filemark = 7,
    known_scsi_sense_eom = 8,
    known_scsi_sense_ili = 9,
    known_scsi_sense_sdat_ovfl = 10,
    known_scsi_sense_fru = 11,
    known_scsi_sense_information = 12,
    known_scsi_sense_command_specific = 13,
    known_scsi_sense_progress = 14,
    known_scsi_sense_field_pointer = 15,
    known_scsi_sense_field_in_cdb = 16,
    known_scsi_sense_bit_pointer = 17,
    known_scsi_sense_retry_count = 18,
    known_scsi_sense_segment_pointer = 19,
    known_scsi_sense_segment_descriptor = 20,
    known_scsi_sense_unit_attention_overflow = 21,
    known_scsi_sense_forwarded_source = 22,
    known_scsi_sense_forwarded_fsdt = 23,
    known_scsi_sense_forwarded_status = 24,
    known_scsi_sense_n_forwarded = 25,
    known_scsi_sense_forwarded = 26,
    known_scsi_sense_not_all_referrals = 27,
    known_scsi_sense_n_segments = 28,
    known_scsi_sense_segments = 29,
    known_scsi_sense_n_other_progress = 30,
    known_scsi_sense_other_progress = 31,
    known_scsi_sense_n_descriptors = 32,
    known_scsi_sense_descriptors = 33,
    known_scsi_sense_length = 34,
    known_scsi_sense_truncated = 35,
    known_scsi_sense_key_text = 36,
    known_scsi_sense_text = 37,
};

enum {
    known_scsi_inquiry_peripheral_qualifier = 1,
    known_scsi_inquiry_peripheral_device_type = 2,
    known_scsi_inquiry_rmb = 3,
    known_scsi_inquiry_lu_cong = 4,
    known_scsi_inquiry_hot_pluggable = 5,
    known_scsi_inquiry_version = 6,
    known_scsi_inquiry_aerc = 7,
    known_scsi_inquiry_trmtsk = 8,
    known_scsi_inquiry_normaca = 9,
    known_scsi_inquiry_hisup = 10,
    known_scsi_inquiry_response_data_format = 11,
    known_scsi_inquiry_additional_length = 12,
    known_scsi_inquiry_sccs = 13,
    known_scsi_inquiry_acc = 14,
    known_scsi_inquiry_tpgs = 15,
    known_scsi_inquiry_third_party_copy = 16,
    known_scsi_inquiry_protect = 17,
    known_scsi_inquiry_bque = 18,
    known_scsi_inquiry_encserv = 19,
    known_scsi_inquiry_vs6 = 20,
    known_scsi_inquiry_multip = 21,
    known_scsi_inquiry_mchngr = 22,
    known_scsi_inquiry_ackreqq = 23,
    known_scsi_inquiry_addr16 = 24,
    known_scsi_inquiry_reladr = 25,
    known_scsi_inquiry_wbus16 = 26,
    known_scsi_inquiry_sync = 27,
    known_scsi_inquiry_linked = 28,
    known_scsi_inquiry_trandis = 29,
    known_scsi_inquiry_cmdque = 30,
    known_scsi_inquiry_vs7 = 31,
    known_scsi_inquiry_vendor = 32,
    known_scsi_inquiry_product = 33,
    known_scsi_inquiry_revision = 34,
    known_scsi_inquiry_vendor_specific = 35,
    known_scsi_inquiry_clocking = 36,
    known_scsi_inquiry_qas = 37,
    known_scsi_inquiry_ius = 38,
    known_scsi_inquiry_n_versions = 39,
    known_scsi_inquiry_versions = 40,
    known_scsi_inquiry_length = 41,
    known_scsi_inquiry_truncated = 42,
};

enum {
    known_scsi_vpd_supported_peripheral = 1,
    known_scsi_vpd_supported_n_pages = 2,
    known_scsi_vpd_supported_pages = 3,
    known_scsi_vpd_supported_truncated = 4,
};

enum {
    known_scsi_vpd_serial_serial = 1,
    known_scsi_vpd_serial_truncated = 2,
};

enum {
    known_scsi_designator_protocol = 1,
    known_scsi_designator_code_set = 2,
    known_scsi_designator_association = 3,
    known_scsi_designator_type = 4,
    known_scsi_designator_n_designator = 5,
    known_scsi_designator_designator = 6,
    known_scsi_designator_text = 7,
};

enum {
    known_scsi_vpd_device_id_peripheral = 1,
    known_scsi_vpd_device_id_n_designators = 2,
    known_scsi_vpd_device_id_designators = 3,
    known_scsi_vpd_device_id_truncated = 4,
};

enum {
    known_scsi_vpd_extended_activate_microcode = 1,
    known_scsi_vpd_extended_spt = 2,
    known_scsi_vpd_extended_grd_chk = 3,
    known_scsi_vpd_extended_app_chk = 4,
    known_scsi_vpd_extended_ref_chk = 5,
    known_scsi_vpd_extended_uask_sup = 6,
    known_scsi_vpd_extended_group_sup = 7,
    known_scsi_vpd_extended_prior_sup = 8,
    known_scsi_vpd_extended_headsup = 9,
    known_scsi_vpd_extended_ordsup = 10,
    known_scsi_vpd_extended_simpsup = 11,
    known_scsi_vpd_extended_wu_sup = 12,
    known_scsi_vpd_extended_crd_sup = 13,
    known_scsi_vpd_extended_nv_sup = 14,
    known_scsi_vpd_extended_v_sup = 15,
    known_scsi_vpd_extended_no_pi_chk = 16,
    known_scsi_vpd_extended_p_i_i_sup = 17,
    known_scsi_vpd_extended_luiclr = 18,
    known_scsi_vpd_extended_lu_coll_type = 19,
    known_scsi_vpd_extended_r_sup = 20,
    known_scsi_vpd_extended_rtd_sup = 21,
    known_scsi_vpd_extended_hssrelef = 22,
    known_scsi_vpd_extended_multi_it_nexus_microcode = 23,
    known_scsi_vpd_extended_extended_self_test_minutes = 24,
    known_scsi_vpd_extended_poa_sup = 25,
    known_scsi_vpd_extended_hra_sup = 26,
    known_scsi_vpd_extended_vsa_sup = 27,
    known_scsi_vpd_extended_dms_valid = 28,
    known_scsi_vpd_extended_maximum_sense_length = 29,
    known_scsi_vpd_extended_ibs = 30,
    known_scsi_vpd_extended_ias = 31,
    known_scsi_vpd_extended_sac = 32,
    known_scsi_vpd_extended_nrd1 = 33,
    known_scsi_vpd_extended_nrd0 = 34,
    known_scsi_vpd_extended_maximum_inquiry_change_logs = 35,
    known_scsi_vpd_extended_maximum_mode_page_change_logs = 36,
    known_scsi_vpd_extended_truncated = 37,
};

enum {
    known_scsi_vpd_mode_policy_n_policies = 1,
    known_scsi_vpd_mode_policy_policies = 2,
    known_scsi_vpd_mode_policy_truncated = 3,
};

enum {
    known_scsi_port_relative_port = 1,
    known_scsi_port_initiator_offset = 2,
    known_scsi_port_initiator_length = 3,
    known_scsi_port_n_designators = 4,
    known_scsi_port_designators = 5,
};

enum {
    known_scsi_vpd_ports_n_ports = 1,
    known_scsi_vpd_ports_ports = 2,
    known_scsi_vpd_ports_truncated = 3,
};

enum {
    known_scsi_vpd_ata_sat_vendor = 1,
    known_scsi_vpd_ata_sat_product = 2,
    known_scsi_vpd_ata_sat_revision = 3,
    known_scsi_vpd_ata_signature = 4,
    known_scsi_vpd_ata_sata = 5,
    known_scsi_vpd_ata_command_code = 6,
    known_scsi_vpd_ata_identify = 7,
    known_scsi_vpd_ata_truncated = 8,
};

enum {
    known_scsi_vpd_power_standby_y = 1,
    known_scsi_vpd_power_standby_z = 2,
    known_scsi_vpd_power_idle_c = 3,
    known_scsi_vpd_power_idle_b = 4,
    known_scsi_vpd_power_idle_a = 5,
    known_scsi_vpd_power_stopped_recovery_ms = 6,
    known_scsi_vpd_power_standby_z_recovery_ms = 7,
    known_scsi_vpd_power_standby_y_recovery_ms = 8,
    known_scsi_vpd_power_idle_a_recovery_ms = 9,
    known_scsi_vpd_power_idle_b_recovery_ms = 10,
    known_scsi_vpd_power_idle_c_recovery_ms = 11,
    known_scsi_vpd_power_truncated = 12,
};

enum {
    known_scsi_vpd_limits_wsnz = 1,
    known_scsi_vpd_limits_maximum_compare_and_write_length = 2,
    known_scsi_vpd_limits_optimal_transfer_length_granularity = 3,
    known_scsi_vpd_limits_maximum_transfer_length = 4,
    known_scsi_vpd_limits_optimal_transfer_length = 5,
    known_scsi_vpd_limits_maximum_prefetch_length = 6,
    known_scsi_vpd_limits_maximum_unmap_lba_count = 7,
    known_scsi_vpd_limits_maximum_unmap_block_descriptor_count = 8,
    known_scsi_vpd_limits_optimal_unmap_granularity = 9,
    known_scsi_vpd_limits_ugavalid = 10,
    known_scsi_vpd_limits_unmap_granularity_alignment = 11,
    known_scsi_vpd_limits_maximum_write_same_length = 12,
    known_scsi_vpd_limits_maximum_atomic_transfer_length = 13,
    known_scsi_vpd_limits_atomic_alignment = 14,
    known_scsi_vpd_limits_atomic_transfer_length_granularity = 15,
    known_scsi_vpd_limits_maximum_atomic_transfer_length_with_boundary = 16,
    known_scsi_vpd_limits_maximum_atomic_boundary_size = 17,
    known_scsi_vpd_limits_truncated = 18,
};

enum {
    known_scsi_vpd_characteristics_medium_rotation_rate = 1,
    known_scsi_vpd_characteristics_product_type = 2,
    known_scsi_vpd_characteristics_wabereq = 3,
    known_scsi_vpd_characteristics_wacereq = 4,
    known_scsi_vpd_characteristics_nominal_form_factor = 5,
    known_scsi_vpd_characteristics_mact = 6,
    known_scsi_vpd_characteristics_zoned = 7,
    known_scsi_vpd_characteristics_rbwz = 8,
    known_scsi_vpd_characteristics_bocs = 9,
    known_scsi_vpd_characteristics_fuab = 10,
    known_scsi_vpd_characteristics_vbuls = 11,
    known_scsi_vpd_characteristics_depopulation_time = 12,
    known_scsi_vpd_characteristics_truncated = 13,
};

enum {
    known_scsi_vpd_provisioning_threshold_exponent = 1,
    known_scsi_vpd_provisioning_lbpu = 2,
    known_scsi_vpd_provisioning_lbpws = 3,
    known_scsi_vpd_provisioning_lbpws10 = 4,
    known_scsi_vpd_provisioning_lbprz = 5,
    known_scsi_vpd_provisioning_anc_sup = 6,
    known_scsi_vpd_provisioning_dp = 7,
    known_scsi_vpd_provisioning_minimum_percentage = 8,
    known_scsi_vpd_provisioning_provisioning_type = 9,
    known_scsi_vpd_provisioning_threshold_percentage = 10,
    known_scsi_vpd_provisioning_n_group = 11,
    known_scsi_vpd_provisioning_group = 12,
    known_scsi_vpd_provisioning_truncated = 13,
};

enum {
    known_scsi_vpd_zoned_zoned_extension = 1,
    known_scsi_vpd_zoned_aaorb = 2,
    known_scsi_vpd_zoned_urswrz = 3,
    known_scsi_vpd_zoned_optimal_open_sequential_preferred = 4,
    known_scsi_vpd_zoned_optimal_non_sequential_preferred = 5,
    known_scsi_vpd_zoned_maximum_open_sequential_required = 6,
    known_scsi_vpd_zoned_zone_alignment_method = 7,
    known_scsi_vpd_zoned_zone_starting_lba_granularity = 8,
    known_scsi_vpd_zoned_truncated = 9,
};

enum {
    known_scsi_vpd_limits_extension_rscs = 1,
    known_scsi_vpd_limits_extension_maximum_number_of_streams = 2,
    known_scsi_vpd_limits_extension_optimal_stream_write_size = 3,
    known_scsi_vpd_limits_extension_stream_granularity_size = 4,
    known_scsi_vpd_limits_extension_maximum_scattered_range_transfer_length = 5,
    known_scsi_vpd_limits_extension_maximum_scattered_range_descriptors = 6,
    known_scsi_vpd_limits_extension_maximum_scattered_transfer_length = 7,
    known_scsi_vpd_limits_extension_truncated = 8,
};

enum {
    known_scsi_capacity_last_lba = 1,
    known_scsi_capacity_block_bytes = 2,
    known_scsi_capacity_prot_en = 3,
    known_scsi_capacity_p_type = 4,
    known_scsi_capacity_p_i_exponent = 5,
    known_scsi_capacity_rc_basis = 6,
    known_scsi_capacity_lbppbe = 7,
    known_scsi_capacity_physical_block_bytes = 8,
    known_scsi_capacity_lbpme = 9,
    known_scsi_capacity_lbprz = 10,
    known_scsi_capacity_lowest_aligned_lba = 11,
    known_scsi_capacity_blocks = 12,
    known_scsi_capacity_bytes = 13,
};

enum {
    known_scsi_mode_block_number_of_blocks = 1,
    known_scsi_mode_block_density_code = 2,
    known_scsi_mode_block_block_bytes = 3,
};

enum {
    known_scsi_mode_mode_data_length = 1,
    known_scsi_mode_medium_type = 2,
    known_scsi_mode_wp = 3,
    known_scsi_mode_dpofua = 4,
    known_scsi_mode_longlba = 5,
    known_scsi_mode_block_descriptor_length = 6,
    known_scsi_mode_n_blocks = 7,
    known_scsi_mode_blocks = 8,
    known_scsi_mode_n_pages = 9,
    known_scsi_mode_pages = 10,
    known_scsi_mode_truncated = 11,
};

enum {
    known_scsi_mode_caching_ps = 1,
    known_scsi_mode_caching_ic = 2,
    known_scsi_mode_caching_abpf = 3,
    known_scsi_mode_caching_cap = 4,
    known_scsi_mode_caching_disc = 5,
    known_scsi_mode_caching_size = 6,
    known_scsi_mode_caching_wce = 7,
    known_scsi_mode_caching_mf = 8,
    known_scsi_mode_caching_rcd = 9,
    known_scsi_mode_caching_demand_read_retention_priority = 10,
    known_scsi_mode_caching_write_retention_priority = 11,
    known_scsi_mode_caching_disable_prefetch_transfer_length = 12,
    known_scsi_mode_caching_minimum_prefetch = 13,
    known_scsi_mode_caching_maximum_prefetch = 14,
    known_scsi_mode_caching_maximum_prefetch_ceiling = 15,
    known_scsi_mode_caching_fsw = 16,
    known_scsi_mode_caching_lbcss = 17,
    known_scsi_mode_caching_dra = 18,
    known_scsi_mode_caching_sync_prog = 19,
    known_scsi_mode_caching_nv_dis = 20,
    known_scsi_mode_caching_number_of_cache_segments = 21,
    known_scsi_mode_caching_cache_segment_size = 22,
    known_scsi_mode_caching_truncated = 23,
};

enum {
    known_scsi_mode_control_ps = 1,
    known_scsi_mode_control_tst = 2,
    known_scsi_mode_control_tmf_only = 3,
    known_scsi_mode_control_dpicz = 4,
    known_scsi_mode_control_d_sense = 5,
    known_scsi_mode_control_gltsd = 6,
    known_scsi_mode_control_rlec = 7,
    known_scsi_mode_control_queue_algorithm_modifier = 8,
    known_scsi_mode_control_nuar = 9,
    known_scsi_mode_control_qerr = 10,
    known_scsi_mode_control_rac = 11,
    known_scsi_mode_control_ua_intlck_ctrl = 12,
    known_scsi_mode_control_swp = 13,
    known_scsi_mode_control_ato = 14,
    known_scsi_mode_control_tas = 15,
    known_scsi_mode_control_atmpe = 16,
    known_scsi_mode_control_rwwp = 17,
    known_scsi_mode_control_sblp = 18,
    known_scsi_mode_control_autoload_mode = 19,
    known_scsi_mode_control_busy_timeout_period = 20,
    known_scsi_mode_control_extended_self_test_completion_time = 21,
    known_scsi_mode_control_truncated = 22,
};

enum {
    known_scsi_mode_power_ps = 1,
    known_scsi_mode_power_pm_bg_precedence = 2,
    known_scsi_mode_power_standby_y = 3,
    known_scsi_mode_power_idle_c = 4,
    known_scsi_mode_power_idle_b = 5,
    known_scsi_mode_power_idle_a = 6,
    known_scsi_mode_power_standby_z = 7,
    known_scsi_mode_power_idle_a_timer = 8,
    known_scsi_mode_power_standby_z_timer = 9,
    known_scsi_mode_power_idle_b_timer = 10,
    known_scsi_mode_power_idle_c_timer = 11,
    known_scsi_mode_power_standby_y_timer = 12,
    known_scsi_mode_power_ccf_idle = 13,
    known_scsi_mode_power_ccf_standby = 14,
    known_scsi_mode_power_ccf_stopped = 15,
    known_scsi_mode_power_truncated = 16,
};

enum {
    known_scsi_log_page = 1,
    known_scsi_log_subpage = 2,
    known_scsi_log_spf = 3,
    known_scsi_log_ds = 4,
    known_scsi_log_n_parameters = 5,
    known_scsi_log_parameters = 6,
    known_scsi_log_truncated = 7,
};

enum {
    known_scsi_log_supported_n_pages = 1,
    known_scsi_log_supported_pages = 2,
    known_scsi_log_supported_truncated = 3,
};

enum {
    known_scsi_log_errors_page = 1,
    known_scsi_log_errors_corrected_without_substantial_delay = 2,
    known_scsi_log_errors_corrected_with_possible_delays = 3,
    known_scsi_log_errors_total_rewrites_or_rereads = 4,
    known_scsi_log_errors_total_errors_corrected = 5,
    known_scsi_log_errors_total_times_correction_algorithm_processed = 6,
    known_scsi_log_errors_total_bytes_processed = 7,
    known_scsi_log_errors_total_uncorrected_errors = 8,
    known_scsi_log_errors_truncated = 9,
};

enum {
    known_scsi_log_temperature_temperature_c = 1,
    known_scsi_log_temperature_reference_temperature_c = 2,
    known_scsi_log_temperature_truncated = 3,
};

enum {
    known_scsi_log_start_stop_manufacture_year = 1,
    known_scsi_log_start_stop_manufacture_week = 2,
    known_scsi_log_start_stop_specified_cycle_count = 3,
    known_scsi_log_start_stop_accumulated_start_stop_cycles = 4,
    known_scsi_log_start_stop_specified_load_unload_count = 5,
    known_scsi_log_start_stop_accumulated_load_unload_cycles = 6,
    known_scsi_log_start_stop_truncated = 7,
};

enum {
    known_scsi_self_test_code = 1,
    known_scsi_self_test_result = 2,
    known_scsi_self_test_number = 3,
    known_scsi_self_test_power_on_hours = 4,
    known_scsi_self_test_first_failure_lba = 5,
    known_scsi_self_test_key = 6,
    known_scsi_self_test_asc = 7,
    known_scsi_self_test_ascq = 8,
};

enum {
    known_scsi_log_self_tests_n_tests = 1,
    known_scsi_log_self_tests_tests = 2,
    known_scsi_log_self_tests_truncated = 3,
};

enum {
    known_scsi_log_endurance_percentage_used = 1,
    known_scsi_log_endurance_truncated = 2,
};

enum {
    known_scsi_scan_result_code = 1,
    known_scsi_scan_result_power_on_minutes = 2,
    known_scsi_scan_result_reassign_status = 3,
    known_scsi_scan_result_key = 4,
    known_scsi_scan_result_asc = 5,
    known_scsi_scan_result_ascq = 6,
    known_scsi_scan_result_lba = 7,
};

enum {
    known_scsi_log_background_scan_power_on_minutes = 1,
    known_scsi_log_background_scan_status = 2,
    known_scsi_log_background_scan_scans_performed = 3,
    known_scsi_log_background_scan_progress = 4,
    known_scsi_log_background_scan_medium_scans_performed = 5,
    known_scsi_log_background_scan_n_results = 6,
    known_scsi_log_background_scan_results = 7,
    known_scsi_log_background_scan_truncated = 8,
};

enum {
    known_scsi_phy_port = 1,
    known_scsi_phy_phy = 2,
    known_scsi_phy_attached_type = 3,
    known_scsi_phy_reason = 4,
    known_scsi_phy_rate = 5,
    known_scsi_phy_attached_phy = 6,
    known_scsi_phy_sas_address = 7,
    known_scsi_phy_attached_sas_address = 8,
    known_scsi_phy_invalid_dwords = 9,
    known_scsi_phy_disparity_errors = 10,
    known_scsi_phy_sync_losses = 11,
    known_scsi_phy_reset_problems = 12,
};

enum {
    known_scsi_log_phys_n_phys = 1,
    known_scsi_log_phys_phys = 2,
    known_scsi_log_phys_truncated = 3,
};

enum {
    known_scsi_log_exceptions_asc = 1,
    known_scsi_log_exceptions_ascq = 2,
    known_scsi_log_exceptions_temperature_c = 3,
    known_scsi_log_exceptions_threshold_temperature_c = 4,
    known_scsi_log_exceptions_text = 5,
    known_scsi_log_exceptions_truncated = 6,
};

enum {
    known_scsi_opcode_opcode = 1,
    known_scsi_opcode_service_action = 2,
    known_scsi_opcode_cdlp = 3,
    known_scsi_opcode_cdb_length = 4,
    known_scsi_opcode_command_specific = 5,
    known_scsi_opcode_nominal_timeout_s = 6,
    known_scsi_opcode_recommended_timeout_s = 7,
    known_scsi_opcode_name = 8,
};

enum {
    known_scsi_opcodes_n_commands = 1,
    known_scsi_opcodes_commands = 2,
    known_scsi_opcodes_truncated = 3,
};

enum {
    known_scsi_one_opcode_support = 1,
    known_scsi_one_opcode_cdlp = 2,
    known_scsi_one_opcode_n_cdb_usage = 3,
    known_scsi_one_opcode_cdb_usage = 4,
    known_scsi_one_opcode_command_specific = 5,
    known_scsi_one_opcode_nominal_timeout_s = 6,
    known_scsi_one_opcode_recommended_timeout_s = 7,
    known_scsi_one_opcode_truncated = 8,
};

enum {
    known_scsi_luns_n_luns = 1,
    known_scsi_luns_luns = 2,
    known_scsi_luns_truncated = 3,
};

/* clang-format on */

#endif
