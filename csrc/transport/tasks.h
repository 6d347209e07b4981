/* SPDX-License-Identifier: MIT */
/* The threads of this process, by procfs. */
#ifndef SATED_TRANSPORT_TASKS_H
#define SATED_TRANSPORT_TASKS_H

#include <stdint.h>

/* Threads by which io_uring does I/Os of the calling thread that would block it; 0 too where procfs is missing. */
uint32_t tasks_of_io_uring(void);

#endif
