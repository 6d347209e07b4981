/* SPDX-License-Identifier: MIT */
/* Recorded answers as a drive. */
#ifndef SATED_TRANSPORT_REPLAY_H
#define SATED_TRANSPORT_REPLAY_H

#include "transport/handle.h"

/* Opens the file behind "replay:" and fills d. Return: 0 or an error. */
int replay_open(struct sated_drive *d, const char *path);

#endif
