/* SPDX-License-Identifier: MIT */
/* What linux/io_uring.h has in newer versions than the oldest one that we build with. */
#ifndef SATED_LOAD_URING_ABI_H
#define SATED_LOAD_URING_ABI_H

#include <linux/io_uring.h>

#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

#ifndef IORING_REGISTER_RING_FDS
#define IORING_REGISTER_RING_FDS 20
#endif
#ifndef IORING_ENTER_REGISTERED_RING
#define IORING_ENTER_REGISTERED_RING (1U << 4)
#endif

/* Discards go through it since Linux 6.12. Of the entry `off` has what is to be done, and the 8 bytes behind `user_data`
 * and buffer the length, which newer headers call addr3. */
#define OP_URING_CMD 46
#define CMD_DISCARD 0x1200 /* BLOCK_URING_CMD_DISCARD */
#define ADDR3_AT 48

#endif
