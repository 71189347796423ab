// SPDX-License-Identifier: GPL-2.0
/*
 * cwnd - how much may be on its way, and in one train
 *
 * RC has no congestion window of its own: a requester may fill the sequence
 * space.  What is too much then waits at the receiver, in front of everything
 * that comes later, until timeouts speak of loss where there is none.  So the
 * window follows what is seen: it doubles in a round trip while round trips are
 * short, and grows by an eighth once something was lost; it shrinks to what the
 * peer manages in WAIT_MOST when round trips grow, and is halved by loss.
 *
 * Where routers mark packets instead of losing them (ECN), it shrinks before
 * anything is lost: by half of @alpha, which grows with each round trip that saw a
 * mark and fades with each that saw none, as in DCQCN.  That one sets a rate; here
 * it is the window, which is sent as acknowledges come in and so needs no timer.
 *
 * Runs under tx_lock with softirqs off.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "rc/cwnd.h"
#include "tx/train.h"
#include "wire/psn.h"

/* Bytes, at the start and at most; and packets, at the start and at least. */
#define START_BYTES	(64 * 1024)
#define MOST_BYTES	(2 * 1024 * 1024)
#define START_PACKETS	16
#define FEWEST		8

/*
 * How long packets may wait at the peer: a fraction of the shortest timeout (see
 * retransmit), and longer than two megabytes take where the path is a veth pair.
 */
#define WAIT_MOST	(8 * NSEC_PER_MSEC)

/*
 * Of @alpha: its unit, and what of it a round trip changes.  It is all of it
 * at first, since of the path nothing is known.
 */
#define ALPHA_ONE	1024
#define ALPHA_GAIN	16

/* Nothing is on its way for longer. */
#define CUT_MOST	NSEC_PER_SEC

/* A round trip when none was measured yet. */
#define RTT_GUESS	(100 * NSEC_PER_USEC)

void rover_cwnd_init(struct rover_qp *qp)
{
	struct rover_cwnd *win = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	memset(win, 0, sizeof(*win));
	win->packets = max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS);
	win->most = max_t(u32, MOST_BYTES >> qp->mtu_shift, START_PACKETS);
	win->fast = win->most;
	win->train = ROVER_TRAIN_MAX;
	win->alpha = ALPHA_ONE;
}

void rover_cwnd_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cwnd *win = &qp->cwnd;

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

void rover_cwnd_measured(struct rover_qp *qp, u64 rtt)
{
	struct rover_cwnd *win = &qp->cwnd;
	u64 good;

	lockdep_assert_held(&qp->tx_lock);
	/* Late with next to nothing on its way: the path has become longer. */
	if (!win->least || rtt < win->least ||
	    (win->late && win->packets <= FEWEST))
		win->least = rtt;
	good = 2 * win->least + WAIT_MOST;
	win->late = rtt > good;
	if (win->late)
		win->packets = max_t(u32, min(win->packets, FEWEST),
				     div64_u64(win->packets * good, rtt));
}

void rover_cwnd_lost(struct rover_qp *qp)
{
	struct rover_cwnd *win = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	win->late = false;
	win->fast = max(win->packets / 2, FEWEST);
	win->packets = min(win->packets, win->fast);
	win->train = max(win->train / 2, 4);
}

/* What the round trips since the last mark, of which one had it, leave of it. */
static void fade(struct rover_qp *qp, u64 now)
{
	struct rover_cwnd *win = &qp->cwnd;
	u64 trips;

	if (!win->cut_at)
		return;
	trips = div64_u64(now - win->cut_at, qp->rtx.srtt ?: RTT_GUESS);
	while (trips-- > 1 && win->alpha >= ALPHA_GAIN)
		win->alpha -= win->alpha / ALPHA_GAIN;
}

void rover_cwnd_marked(struct rover_qp *qp)
{
	struct rover_cwnd *win = &qp->cwnd;
	u64 now = ktime_get_ns();
	u32 least;

	lockdep_assert_held(&qp->tx_lock);
	/* Once for all that was on its way the first time; PSNs come round again. */
	if (win->cut_at && now - win->cut_at < CUT_MOST &&
	    rover_psn_diff(qp->req.una, win->cut) < 0)
		return;
	fade(qp, now);
	win->alpha += (ALPHA_ONE - win->alpha) / ALPHA_GAIN;
	least = min(win->packets, FEWEST);
	win->packets -= win->packets * win->alpha / (2 * ALPHA_ONE);
	win->packets = max(win->packets, least);
	win->fast = max(win->packets, FEWEST);
	win->cut = qp->req.next_psn;
	win->cut_at = now;
}

void rover_cwnd_probe(struct rover_qp *qp)
{
	struct rover_cwnd *win = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	win->late = false;
	if (win->packets > FEWEST)
		win->fast = max(win->packets / 2, FEWEST);
	win->packets = 1;
	win->train = 1;
}
