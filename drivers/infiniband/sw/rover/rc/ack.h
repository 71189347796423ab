/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ack - acknowledges, positive and negative
 */
#ifndef ROVER_ACK_H
#define ROVER_ACK_H

#include "tx/train.h"

/**
 * rover_ack_send() - acknowledge
 * @qp: alive
 * @syndrome: AETH syndrome: ROVER_AETH_ACK | credits, an RNR or a NAK
 * @psn: last packet accepted (ACK), or the one that was not (NAK, RNR)
 *
 * Context: rx_lock held, softirqs off.
 */
void rover_ack_send(struct rover_qp *qp, u8 syndrome, u32 psn);

/**
 * rover_ack_atomic() - answer an atomic
 * @train: of responses, which it is coupled to
 * @res: its result
 *
 * Context: rx_lock held, softirqs off.
 * Return: false when there was no memory: try again later.
 */
bool rover_ack_atomic(struct rover_train *train, const struct rover_res *res);

#endif /* ROVER_ACK_H */
