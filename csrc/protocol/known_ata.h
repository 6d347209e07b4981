/* SPDX-License-Identifier: MIT */
/* Made by known.py from <sated/ata.h>: the place of each member, which is its bit in `known`. */
#ifndef SATED_PROTOCOL_KNOWN_ATA_H
#define SATED_PROTOCOL_KNOWN_ATA_H

#include "protocol/known.h"

/* clang-format off */
enum {
    known_ata_registers_lba = 1,
    known_ata_registers_lba_low = 2,
    known_ata_registers_lba_low_bits = 3,
    known_ata_registers_count = 4,
    known_ata_registers_count_low = 5,
    known_ata_registers_error = 6,
    known_ata_registers_status = 7,
    known_ata_registers_device = 8,
    known_ata_registers_extend = 9,
    known_ata_registers_source = 10,
    known_ata_registers_log_index = 11,
    known_ata_registers_reserved = 12,
};

enum {
    known_ata_power_mode_failed = 1,
    known_ata_power_mode_mode = 2,
};

enum {
    known_ata_smart_status_failed = 1,
    known_ata_smart_status_exceeded = 2,
};

enum {
    known_ata_native_max_failed = 1,
    known_ata_native_max_reserved = 2,
    known_ata_native_max_max_lba = 3,
    known_ata_native_max_sectors = 4,
};

enum {
    known_ata_sanitize_status_failed = 1,
    known_ata_sanitize_status_completed = 2,
    known_ata_sanitize_status_in_progress = 3,
    known_ata_sanitize_status_frozen = 4,
    known_ata_sanitize_status_antifreeze = 5,
    known_ata_sanitize_status_progress = 6,
    known_ata_sanitize_status_reason = 7,
    known_ata_sanitize_status_reserved = 8,
};

enum {
    known_ata_capacity_logical_block_bytes = 1,
    known_ata_capacity_physical_block_bytes = 2,
    known_ata_capacity_offset_bytes = 3,
    known_ata_capacity_lba28_sectors = 4,
    known_ata_capacity_lba48_sectors = 5,
    known_ata_capacity_sectors = 6,
    known_ata_capacity_bytes = 7,
};

enum {
    known_ata_geometry_cylinders = 1,
    known_ata_geometry_heads = 2,
    known_ata_geometry_sectors_per_track = 3,
    known_ata_geometry_current_cylinders = 4,
    known_ata_geometry_current_heads = 5,
    known_ata_geometry_current_sectors_per_track = 6,
    known_ata_geometry_current_sectors = 7,
    known_ata_geometry_reserved = 8,
};

enum {
    known_ata_transfer_lba = 1,
    known_ata_transfer_iordy = 2,
    known_ata_transfer_iordy_can_be_disabled = 3,
    known_ata_transfer_standby_timer_standard = 4,
    known_ata_transfer_standby_timer_minimum = 5,
    known_ata_transfer_multiple_max = 6,
    known_ata_transfer_multiple_current = 7,
    known_ata_transfer_pio_modes = 8,
    known_ata_transfer_single_dma_modes = 9,
    known_ata_transfer_single_dma_selected = 10,
    known_ata_transfer_multi_dma_modes = 11,
    known_ata_transfer_multi_dma_selected = 12,
    known_ata_transfer_ultra_dma_modes = 13,
    known_ata_transfer_ultra_dma_selected = 14,
    known_ata_transfer_multi_dma_min_ns = 15,
    known_ata_transfer_multi_dma_recommended_ns = 16,
    known_ata_transfer_pio_min_ns = 17,
    known_ata_transfer_pio_iordy_min_ns = 18,
    known_ata_transfer_buffer_bytes = 19,
    known_ata_transfer_buffer_type = 20,
    known_ata_transfer_cblid_above_vih = 21,
    known_ata_transfer_device_number = 22,
};

enum {
    known_ata_settings_smart_supported = 1,
    known_ata_settings_smart_enabled = 2,
    known_ata_settings_write_cache_supported = 3,
    known_ata_settings_write_cache_enabled = 4,
    known_ata_settings_look_ahead_supported = 5,
    known_ata_settings_look_ahead_enabled = 6,
    known_ata_settings_apm_supported = 7,
    known_ata_settings_apm_enabled = 8,
    known_ata_settings_apm_level = 9,
    known_ata_settings_aam_level = 10,
    known_ata_settings_aam_recommended = 11,
    known_ata_settings_epc_supported = 12,
    known_ata_settings_epc_enabled = 13,
    known_ata_settings_dipm_supported = 14,
    known_ata_settings_dipm_enabled = 15,
    known_ata_settings_devsleep_supported = 16,
    known_ata_settings_devsleep_enabled = 17,
    known_ata_settings_puis_supported = 18,
    known_ata_settings_puis_enabled = 19,
    known_ata_settings_gpl_supported = 20,
    known_ata_settings_self_test_supported = 21,
    known_ata_settings_error_log_supported = 22,
    known_ata_settings_read_log_dma = 23,
    known_ata_settings_sct_supported = 24,
};

enum {
    known_ata_link_type = 1,
    known_ata_link_versions = 2,
    known_ata_link_minor_version = 3,
    known_ata_link_speed_max = 4,
    known_ata_link_speed_current = 5,
    known_ata_link_ncq = 6,
    known_ata_link_queue_depth = 7,
    known_ata_link_phy_counters = 8,
    known_ata_link_ncq_priority = 9,
    known_ata_link_ncq_streaming = 10,
    known_ata_link_ncq_management = 11,
    known_ata_link_ncq_send_receive = 12,
    known_ata_link_ncq_autosense = 13,
    known_ata_link_reserved = 14,
    known_ata_link_version = 15,
};

enum {
    known_ata_security_supported = 1,
    known_ata_security_enabled = 2,
    known_ata_security_locked = 3,
    known_ata_security_frozen = 4,
    known_ata_security_count_expired = 5,
    known_ata_security_enhanced_erase = 6,
    known_ata_security_level = 7,
    known_ata_security_master_revision = 8,
    known_ata_security_erase_minutes = 9,
    known_ata_security_erase_at_least = 10,
    known_ata_security_enhanced_minutes = 11,
    known_ata_security_enhanced_at_least = 12,
};

enum {
    known_ata_sanitize_supported = 1,
    known_ata_sanitize_crypto_scramble = 2,
    known_ata_sanitize_overwrite = 3,
    known_ata_sanitize_block_erase = 4,
    known_ata_sanitize_antifreeze_lock = 5,
    known_ata_sanitize_acs3_commands = 6,
};

enum {
    known_ata_areas_hpa_supported = 1,
    known_ata_areas_hpa_enabled = 2,
    known_ata_areas_set_max_security = 3,
    known_ata_areas_set_max_locked = 4,
    known_ata_areas_set_max_dma = 5,
    known_ata_areas_amac_supported = 6,
    known_ata_areas_dco_supported = 7,
    known_ata_areas_dco_enabled = 8,
    known_ata_areas_dco_dma = 9,
    known_ata_areas_extended_addresses = 10,
};

enum {
    known_ata_trim_supported = 1,
    known_ata_trim_max_blocks = 2,
    known_ata_trim_deterministic = 3,
    known_ata_trim_zeroed = 4,
};

enum {
    known_ata_feature_word = 1,
    known_ata_feature_bit = 2,
    known_ata_feature_enabled = 3,
    known_ata_feature_reserved = 4,
    known_ata_feature_name = 5,
};

enum {
    known_ata_identify_words = 1,
    known_ata_identify_serial = 2,
    known_ata_identify_firmware = 3,
    known_ata_identify_model = 4,
    known_ata_identify_product = 5,
    known_ata_identify_media_serial = 6,
    known_ata_identify_wwn = 7,
    known_ata_identify_atapi = 8,
    known_ata_identify_removable = 9,
    known_ata_identify_incomplete = 10,
    known_ata_identify_checksum = 11,
    known_ata_identify_major_versions = 12,
    known_ata_identify_minor_version = 13,
    known_ata_identify_version = 14,
    known_ata_identify_rotation_rpm = 15,
    known_ata_identify_form_factor = 16,
    known_ata_identify_encrypts_all = 17,
    known_ata_identify_trusted = 18,
    known_ata_identify_capacity = 19,
    known_ata_identify_geometry = 20,
    known_ata_identify_transfer = 21,
    known_ata_identify_settings = 22,
    known_ata_identify_link = 23,
    known_ata_identify_security = 24,
    known_ata_identify_sanitize = 25,
    known_ata_identify_areas = 26,
    known_ata_identify_trim = 27,
    known_ata_identify_n_features = 28,
    known_ata_identify_reserved = 29,
    known_ata_identify_features = 30,
};

enum {
    known_ata_smart_attribute_id = 1,
    known_ata_smart_attribute_flags = 2,
    known_ata_smart_attribute_value = 3,
    known_ata_smart_attribute_worst = 4,
    known_ata_smart_attribute_raw = 5,
    known_ata_smart_attribute_reserved = 6,
    known_ata_smart_attribute_raw48 = 7,
};

enum {
    known_ata_smart_revision = 1,
    known_ata_smart_offline_status = 2,
    known_ata_smart_self_test_result = 3,
    known_ata_smart_self_test_remaining = 4,
    known_ata_smart_offline_seconds = 5,
    known_ata_smart_offline_capabilities = 6,
    known_ata_smart_capabilities = 7,
    known_ata_smart_error_logging = 8,
    known_ata_smart_short_minutes = 9,
    known_ata_smart_extended_minutes = 10,
    known_ata_smart_conveyance_minutes = 11,
    known_ata_smart_checksum = 12,
    known_ata_smart_n_attributes = 13,
    known_ata_smart_reserved = 14,
    known_ata_smart_attributes = 15,
};

enum {
    known_ata_smart_thresholds_revision = 1,
    known_ata_smart_thresholds_checksum = 2,
    known_ata_smart_thresholds_n_thresholds = 3,
    known_ata_smart_thresholds_reserved = 4,
    known_ata_smart_thresholds_thresholds = 5,
};

enum {
    known_ata_self_test_entry_subcommand = 1,
    known_ata_self_test_entry_result = 2,
    known_ata_self_test_entry_remaining = 3,
    known_ata_self_test_entry_hours = 4,
    known_ata_self_test_entry_checkpoint = 5,
    known_ata_self_test_entry_reserved = 6,
    known_ata_self_test_entry_lba = 7,
};

enum {
    known_ata_self_test_log_revision = 1,
    known_ata_self_test_log_checksum = 2,
    known_ata_self_test_log_n_entries = 3,
    known_ata_self_test_log_reserved = 4,
    known_ata_self_test_log_entries = 5,
};

enum {
    known_ata_error_entry_command = 1,
    known_ata_error_entry_features = 2,
    known_ata_error_entry_status = 3,
    known_ata_error_entry_error = 4,
    known_ata_error_entry_count = 5,
    known_ata_error_entry_device = 6,
    known_ata_error_entry_lba = 7,
    known_ata_error_entry_state = 8,
    known_ata_error_entry_hours = 9,
};

enum {
    known_ata_error_log_version = 1,
    known_ata_error_log_checksum = 2,
    known_ata_error_log_total = 3,
    known_ata_error_log_n_entries = 4,
    known_ata_error_log_entries = 5,
};

enum {
    known_ata_attribute_info_format = 1,
    known_ata_attribute_info_meaning = 2,
    known_ata_attribute_info_unit_bytes = 3,
    known_ata_attribute_info_name = 4,
    known_ata_attribute_info_family = 5,
};

enum {
    known_ata_attribute_raw_value = 1,
    known_ata_attribute_raw_second = 2,
    known_ata_attribute_raw_temperature_c = 3,
    known_ata_attribute_raw_min_c = 4,
    known_ata_attribute_raw_max_c = 5,
    known_ata_attribute_raw_reserved = 6,
};

enum {
    known_ata_calibration_unit_bytes = 1,
    known_ata_calibration_step_bytes = 2,
    known_ata_calibration_error = 3,
    known_ata_calibration_lifetime_bytes = 4,
    known_ata_calibration_n_candidates = 5,
    known_ata_calibration_reserved = 6,
    known_ata_calibration_candidates = 7,
};

enum {
    known_ata_statistic_offset = 1,
    known_ata_statistic_normalized = 2,
    known_ata_statistic_condition_met = 3,
    known_ata_statistic_reserved = 4,
    known_ata_statistic_value = 5,
    known_ata_statistic_name = 6,
};

enum {
    known_ata_statistics_revision = 1,
    known_ata_statistics_page = 2,
    known_ata_statistics_n_statistics = 3,
    known_ata_statistics_reserved = 4,
    known_ata_statistics_statistics = 5,
};

enum {
    known_ata_log_pages_revision = 1,
    known_ata_log_pages_n_pages = 2,
    known_ata_log_pages_pages = 3,
};

enum {
    known_ata_log_directory_version = 1,
    known_ata_log_directory_reserved = 2,
    known_ata_log_directory_pages = 3,
};

enum {
    known_ata_pending_defect_lba = 1,
    known_ata_pending_defect_hours = 2,
    known_ata_pending_defect_reserved = 3,
};

enum {
    known_ata_pending_defects_total = 1,
    known_ata_pending_defects_truncated = 2,
    known_ata_pending_defects_n_defects = 3,
    known_ata_pending_defects_reserved = 4,
    known_ata_pending_defects_defects = 5,
};

enum {
    known_ata_ncq_error_queued = 1,
    known_ata_ncq_error_tag = 2,
    known_ata_ncq_error_status = 3,
    known_ata_ncq_error_error = 4,
    known_ata_ncq_error_count = 5,
    known_ata_ncq_error_device = 6,
    known_ata_ncq_error_lba = 7,
    known_ata_ncq_error_key = 8,
    known_ata_ncq_error_asc = 9,
    known_ata_ncq_error_ascq = 10,
    known_ata_ncq_error_checksum = 11,
};

enum {
    known_ata_internal_status_log = 1,
    known_ata_internal_status_organization = 2,
    known_ata_internal_status_area1_last = 3,
    known_ata_internal_status_area2_last = 4,
    known_ata_internal_status_area3_last = 5,
    known_ata_internal_status_saved = 6,
    known_ata_internal_status_generation = 7,
    known_ata_internal_status_reserved = 8,
    known_ata_internal_status_reason = 9,
};

enum {
    known_ata_log_capabilities_capabilities = 1,
    known_ata_log_capabilities_definitive_ending = 2,
    known_ata_log_capabilities_dsm_xl = 3,
    known_ata_log_capabilities_zero_ext = 4,
    known_ata_log_capabilities_dsn = 5,
    known_ata_log_capabilities_amac = 6,
    known_ata_log_capabilities_drat = 7,
    known_ata_log_capabilities_rzat = 8,
    known_ata_log_capabilities_look_ahead = 9,
    known_ata_log_capabilities_write_cache = 10,
    known_ata_log_capabilities_smart = 11,
    known_ata_log_capabilities_lba48 = 12,
    known_ata_log_capabilities_puis = 13,
    known_ata_log_capabilities_apm = 14,
    known_ata_log_capabilities_fua = 15,
    known_ata_log_capabilities_gpl = 16,
    known_ata_log_capabilities_self_test = 17,
    known_ata_log_capabilities_error_log = 18,
    known_ata_log_capabilities_epc = 19,
    known_ata_log_capabilities_sense_data = 20,
    known_ata_log_capabilities_gpl_dma = 21,
    known_ata_log_capabilities_rotation_rpm = 22,
    known_ata_log_capabilities_form_factor = 23,
    known_ata_log_capabilities_trim = 24,
    known_ata_log_capabilities_queue_depth = 25,
};

enum {
    known_ata_log_security_master_revision = 1,
    known_ata_log_security_supported = 2,
    known_ata_log_security_level = 3,
    known_ata_log_security_enhanced_erase = 4,
    known_ata_log_security_count_expired = 5,
    known_ata_log_security_frozen = 6,
    known_ata_log_security_locked = 7,
    known_ata_log_security_enabled = 8,
    known_ata_log_security_erase_minutes = 9,
    known_ata_log_security_erase_at_least = 10,
    known_ata_log_security_enhanced_minutes = 11,
    known_ata_log_security_enhanced_at_least = 12,
    known_ata_log_security_trusted = 13,
    known_ata_log_security_sanitize_overrides = 14,
    known_ata_log_security_acs3_commands = 15,
    known_ata_log_security_antifreeze_lock = 16,
    known_ata_log_security_block_erase = 17,
    known_ata_log_security_overwrite = 18,
    known_ata_log_security_crypto_scramble = 19,
    known_ata_log_security_sanitize = 20,
    known_ata_log_security_encrypts_all = 21,
    known_ata_log_security_reserved = 22,
};

enum {
    known_ata_log_sata_capabilities = 1,
    known_ata_log_sata_settings = 2,
    known_ata_log_sata_speed_max = 3,
    known_ata_log_sata_speed_current = 4,
    known_ata_log_sata_ncq = 5,
    known_ata_log_sata_phy_counters = 6,
    known_ata_log_sata_ncq_priority = 7,
    known_ata_log_sata_read_log_dma_equivalent = 8,
    known_ata_log_sata_ncq_streaming = 9,
    known_ata_log_sata_ncq_management = 10,
    known_ata_log_sata_ncq_send_receive = 11,
    known_ata_log_sata_dipm = 12,
    known_ata_log_sata_settings_preservation = 13,
    known_ata_log_sata_ncq_autosense = 14,
    known_ata_log_sata_devsleep = 15,
    known_ata_log_sata_devsleep_to_reduced = 16,
};

enum {
    known_ata_dco_max_lba = 1,
    known_ata_dco_sectors = 2,
    known_ata_dco_revision = 3,
    known_ata_dco_multi_dma = 4,
    known_ata_dco_ultra_dma = 5,
    known_ata_dco_features = 6,
    known_ata_dco_sata_features = 7,
    known_ata_dco_checksum = 8,
};

enum {
    known_ata_hidden_accessible_sectors = 1,
    known_ata_hidden_native_sectors = 2,
    known_ata_hidden_overlay_sectors = 3,
    known_ata_hidden_hpa_sectors = 4,
    known_ata_hidden_dco_sectors = 5,
    known_ata_hidden_hidden_sectors = 6,
    known_ata_hidden_hidden_bytes = 7,
    known_ata_hidden_hidden_at_least_sectors = 8,
};

/* clang-format on */

#endif
