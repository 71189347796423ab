// SPDX-License-Identifier: GPL-2.0
/*
 * window - how much may be on its way, and in one train
 *
 * RC has no congestion window of its own: a requester may fill the sequence
 * space.  What is too much then waits at the receiver, in front of everything
 * that comes later, until timeouts speak of loss where there is none.  So the
 * window follows what is seen: it doubles in a round trip while round trips are
 * short, and grows by an eighth once something was lost; it shrinks to what the
 * peer manages in WAIT_MOST when round trips grow, and is halved by loss.
 *
 * Runs under tx_lock with softirqs off.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "train.h"
#include "window.h"

/* Bytes, at the start and at most; and packets, at the start and at least. */
#define START_BYTES	(64 * 1024)
#define MOST_BYTES	(2 * 1024 * 1024)
#define START_PACKETS	16
#define FEWEST		8

/*
 * How long packets may wait at the peer: half of the shortest timeout (see
 * retransmit), and longer than two megabytes take where the path is a veth pair.
 */
#define WAIT_MOST	(8 * NSEC_PER_MSEC)

void rover_window_init(struct rover_qp *qp)
{
	struct rover_window *win = &qp->win;

	lockdep_assert_held(&qp->tx_lock);
	memset(win, 0, sizeof(*win));
	win->packets = max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS);
	win->most = max_t(u32, MOST_BYTES >> qp->mtu_shift, START_PACKETS);
	win->fast = win->most;
	win->train = ROVER_TRAIN_MAX;
}

void rover_window_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_window *win = &qp->win;

	lockdep_assert_held(&qp->tx_lock);
	if (win->packets >= win->fast) {
		win->slow += packets;
		packets = win->slow / 8;
		win->slow %= 8;
	}
	if (!win->late)
		win->packets = min(win->packets + packets, win->most);
	win->train = min_t(u32, win->train * 2, ROVER_TRAIN_MAX);
}

void rover_window_measured(struct rover_qp *qp, u64 rtt)
{
	struct rover_window *win = &qp->win;
	u64 good;

	lockdep_assert_held(&qp->tx_lock);
	/* Late with next to nothing on its way: the path has become longer. */
	if (!win->least || rtt < win->least ||
	    (win->late && win->packets <= FEWEST))
		win->least = rtt;
	good = 2 * win->least + WAIT_MOST;
	win->late = rtt > good;
	if (win->late)
		win->packets = max_t(u32, FEWEST,
				     div64_u64(win->packets * good, rtt));
}

void rover_window_lost(struct rover_qp *qp)
{
	struct rover_window *win = &qp->win;

	lockdep_assert_held(&qp->tx_lock);
	win->late = false;
	win->fast = max(win->packets / 2, FEWEST);
	win->packets = win->fast;
	win->train = max(win->train / 2, 4);
}

void rover_window_probe(struct rover_qp *qp)
{
	struct rover_window *win = &qp->win;

	lockdep_assert_held(&qp->tx_lock);
	win->late = false;
	if (win->packets > FEWEST)
		win->fast = max(win->packets / 2, FEWEST);
	win->packets = 1;
	win->train = 1;
}
