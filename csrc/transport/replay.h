/* SPDX-License-Identifier: MIT */
/* Recorded answers as a drive. */
#ifndef SATED_TRANSPORT_REPLAY_H
#define SATED_TRANSPORT_REPLAY_H

#include "transport/handle.h"

/* The machine that a replayed drive was part of: a folder with its /sys, /proc and, as far as needed, /dev. */
struct tree {
    char root[4096];
    char node[64]; /* of the drive, in sysfs */
};

/* Opens the file behind "replay:" and fills d. Return: 0 or an error. */
int replay_open(struct sated_drive *d, const char *path);

#endif
