/* SPDX-License-Identifier: MIT */
/* Which members of a decoded struct hold something: bit i of `known` is the i-th member, `known` itself being the 0th.
 * The places have names in known_scsi.h and its kin, which known.py makes from the public headers. */
#ifndef SATED_PROTOCOL_KNOWN_H
#define SATED_PROTOCOL_KNOWN_H

#include <stdint.h>
#include <string.h>

/* KNOW(scsi_sense, out, asc, b[12]) sets a member and says so; IS_KNOWN(scsi_sense, out, asc) asks. */
#define KNOWN_BIT(of, member) (UINT64_C(1) << known_##of##_##member)
#define KNOW(of, s, member, value) ((s)->member = (value), (void)((s)->known |= KNOWN_BIT(of, member)))
#define IS_KNOWN(of, s, member) (((s)->known & KNOWN_BIT(of, member)) != 0)

/* Takes back what a member holds: it is not known after all. */
#define FORGET(of, s, member) (memset(&(s)->member, 0, sizeof(s)->member), (void)((s)->known &= ~KNOWN_BIT(of, member)))

/* KNOW_LIST(scsi_luns, out, n_luns, luns) says so of a list and of its length. */
#define KNOW_LIST(of, s, n, list) ((void)((s)->known |= KNOWN_BIT(of, n) | KNOWN_BIT(of, list)))

#endif
