/* SPDX-License-Identifier: MIT */
/* The whole public interface of sated, in the order in which Python reads it too. */
#ifndef SATED_SATED_H
#define SATED_SATED_H

#include <sated/base.h>
#include <sated/histogram.h>
#include <sated/steady.h>
#include <sated/drive.h>
#include <sated/scsi.h>
#include <sated/ata.h>
#include <sated/nvme.h>
#include <sated/health.h>
#include <sated/purge.h>
#include <sated/provision.h>
#include <sated/workload.h>
#include <sated/load.h>
#include <sated/sim.h>

#endif
