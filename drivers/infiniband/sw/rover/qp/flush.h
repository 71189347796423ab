/* SPDX-License-Identifier: GPL-2.0 */
/* flush - complete the requests of a ring with FLUSH_ERR, in portions */
#ifndef ROVER_FLUSH_H
#define ROVER_FLUSH_H

#include "qp/qp.h"

/*
 * WQEs flushed under one lock, softirqs off.  A ring holds up to 32768, each
 * with a CQE and maybe an event (decision 0043).
 */
#define ROVER_FLUSH_PORTION	64

/**
 * rover_flush_sends() - flush a portion of the send ring
 * @qp: alive; requests begun are complete; ROVER_WORK_TX is set for the rest
 * Context: tx_lock held.
 */
void rover_flush_sends(struct rover_qp *qp);

/**
 * rover_flush_receives() - flush a portion of the receive ring
 * @qp: alive; a receive it had taken is complete
 *
 * Sets ROVER_WORK_RX for the rest.  With an SRQ, raises LAST_WQE_REACHED once
 * instead.
 * Context: rx_lock held.
 */
void rover_flush_receives(struct rover_qp *qp);

#endif /* ROVER_FLUSH_H */
