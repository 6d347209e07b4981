# The one list of the library's sources: the shared library, the Python extension and the tests read it.
SATED_SOURCES := \
	core/buffer.c core/clock.c core/error.c core/file.c core/histogram.c core/log.c core/params.c core/params_read.c \
	core/random.c core/size.c core/steady.c \
	sim/cache.c sim/check.c sim/gc.c sim/map.c sim/model.c sim/models.c sim/nand.c sim/queue.c sim/sim.c sim/spec.c sim/state.c \
	sim/timing.c \
	transport/block.c transport/handle.c transport/node.c transport/open.c transport/regular.c transport/simulated.c \
	transport/use.c \
	drive/guard.c drive/identity.c drive/list.c drive/provision.c drive/purge.c \
	load/address.c load/collect.c load/data.c load/engine_real.c load/engine_sim.c load/engine_sync.c \
	load/engine_uring.c load/job.c load/kernel.c load/mix.c load/options.c load/phase.c load/recorder.c load/outbox.c \
	load/workload.c
