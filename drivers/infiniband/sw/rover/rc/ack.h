/* SPDX-License-Identifier: GPL-2.0 */
/* ack - send ACKs, NAKs and atomic responses */
#ifndef ROVER_ACK_H
#define ROVER_ACK_H

#include "tx/train.h"

/**
 * rover_ack_send() - send an ACK, NAK or RNR NAK
 * @qp: alive
 * @syndrome: AETH syndrome
 * @psn: last packet accepted (ACK) or refused one
 * Context: rx_lock held.
 */
void rover_ack_send(struct rover_qp *qp, u8 syndrome, u32 psn);

/**
 * rover_ack_atomic() - add an atomic response to a train
 * @train: responses
 * @res: row of the atomic
 * Context: rx_lock held.
 * Return: false without memory.
 */
bool rover_ack_atomic(struct rover_train *train, const struct rover_res *res);

#endif /* ROVER_ACK_H */
