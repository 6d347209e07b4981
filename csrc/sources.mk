# The one list of sources: the shared library, the Python extension, the shim and the tests read it.
SATED_SOURCES := \
	core/buffer.c core/clock.c core/error.c core/file.c core/histogram.c core/json.c core/log.c core/params.c \
	core/params_read.c core/power.c core/random.c core/size.c core/steady.c core/text.c core/thread.c \
	protocol/ata.c protocol/ata_errors.c protocol/ata_features.c protocol/ata_identify.c protocol/ata_logs.c protocol/ata_results.c \
	protocol/ata_smart.c protocol/attributes.c \
	protocol/asc.c protocol/asc_high.c protocol/asc_low.c protocol/fields.c protocol/opcodes.c protocol/sat.c \
	protocol/scsi.c protocol/scsi_inquiry.c protocol/scsi_list.c protocol/scsi_log.c protocol/scsi_mode.c \
	protocol/scsi_report.c protocol/sense.c \
	protocol/nvme.c protocol/nvme_identify.c protocol/nvme_logs.c protocol/nvme_namespace.c protocol/nvme_status.c \
	sim/cache.c sim/check.c sim/content.c sim/counters.c sim/energy.c sim/fill.c sim/flaw.c sim/gc.c sim/idle.c sim/map.c sim/media.c \
	sim/model.c sim/model_life.c sim/models.c sim/nand.c sim/occupancy.c sim/opening.c sim/parity.c sim/queue.c sim/set.c \
	sim/set_bytes.c sim/set_cache.c sim/set_layout.c sim/set_row.c sim/set_run.c sim/set_spec.c sim/set_state.c \
	sim/sim.c sim/sizes.c sim/slc.c sim/spare.c sim/spec.c sim/state.c sim/streams.c sim/target.c sim/target_ata.c sim/target_ata_area.c sim/target_ata_data.c \
	sim/target_ata_identify.c sim/target_ata_log.c sim/target_ata_sanitize.c sim/target_ata_security.c \
	sim/target_ata_smart.c sim/target_nvme.c sim/target_nvme_erase.c sim/target_nvme_features.c \
	sim/target_nvme_identify.c sim/target_nvme_io.c sim/target_nvme_logs.c sim/target_nvme_namespace.c \
	sim/target_nvme_test.c sim/target_sat.c sim/target_sat_pages.c sim/target_sat_pass.c sim/target_scsi.c \
	sim/target_scsi_erase.c sim/target_scsi_inquiry.c sim/target_scsi_log.c sim/target_scsi_media.c \
	sim/target_scsi_mode.c sim/target_scsi_power.c sim/target_scsi_table.c sim/target_sense.c sim/timing.c sim/untimed.c sim/wear.c \
	transport/blkid.c transport/block.c transport/calls.c transport/callback.c transport/command.c transport/device.c \
	transport/exchange.c transport/handle.c transport/hold.c transport/integrity.c transport/learn.c \
	transport/lengths.c transport/loops.c transport/mounts.c transport/names.c transport/node.c transport/nvme_ioctl.c transport/nvme_tree.c transport/open.c \
	transport/readonly.c transport/record.c transport/refresh.c transport/regular.c transport/replay.c transport/scope.c \
	transport/scrub.c transport/sg.c transport/siblings.c transport/signature.c transport/simulated.c transport/status.c \
	transport/tasks.c transport/timeout.c transport/topology.c transport/use.c transport/volumes.c \
	drive/consent.c drive/guard.c drive/health.c drive/health_ata.c drive/health_nvme.c drive/health_scsi.c \
	drive/identity.c drive/journal.c drive/list.c drive/provision.c drive/provision_ata.c drive/provision_change.c \
	drive/provision_nvme.c drive/provision_scsi.c drive/purge.c drive/purge_ata.c drive/purge_canary.c drive/purge_nvme.c \
	drive/purge_run.c drive/purge_scsi.c drive/purge_ways.c drive/settings.c drive/settings_ways.c drive/shared.c \
	load/address.c load/alias.c load/collect.c load/data.c load/engine_aio.c load/engine_real.c load/engine_sim.c load/engine_threads.c \
	load/engine_uring.c load/inflight.c load/iolog.c load/job.c load/kernel.c load/mix.c load/options.c load/phase.c load/recorder.c load/outbox.c \
	load/schedule.c load/spread.c load/supply.c load/workload.c load/workload_lists.c
# What lets other programs talk to a simulated drive (`sated sim exec`); the library is inside.
SATED_SHIM_SOURCES := tools/shim.c tools/shim_drive.c tools/shim_ioctl.c tools/shim_paths.c
