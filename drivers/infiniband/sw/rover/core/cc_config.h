/* SPDX-License-Identifier: GPL-2.0 */
/* cc_config - what administrators choose for a device */
#ifndef ROVER_CC_CONFIG_H
#define ROVER_CC_CONFIG_H

#include <linux/types.h>

struct rover_cc_ops;

/*
 * Knobs of DCQCN, with the names and units of mlx5: X(name, default, least,
 * greatest).  Rates are in Mb/s, 0 for no limit; times in us.
 *
 * rpg_time_reset: time after which the rate increases
 * rpg_byte_reset: bytes after which it increases
 * rpg_threshold: increases by one of these before additive, by both before hyper
 *	increase
 * rpg_max_rate: rate at which flows are no longer limited
 * rpg_ai_rate: additive increase
 * rpg_hai_rate: hyper increase
 * rpg_gd: log2 of the divisor of alpha (in 1024ths) when a CNP reduces the rate
 * rpg_min_dec_fac: percent of the rate that a reduction leaves at least
 * rpg_min_rate: smallest rate, or half of rpg_max_rate if that is less
 * clamp_tgt_rate: a CNP sets the target rate to the current one, always; else
 *	only if the byte counter has increased the rate since the last CNP
 * clamp_tgt_rate_after_time_inc: also if time has
 * dce_tcp_g: what is left of alpha after dce_tcp_rtt, in 1024ths
 * dce_tcp_rtt: time after which alpha changes
 * rate_to_set_on_first_cnp: first rate, if less than rpg_max_rate; 0 for the
 *	measured one, which the first CNP reduces
 * initial_alpha_value: first alpha, in 1024ths
 * rate_reduce_monitor_period: shortest time between reductions
 * min_time_between_cnps: notification point: that between CNPs of a connection
 */
#define ROVER_DCQCN_KNOBS(X)					\
	X(rpg_time_reset, 300, 1, 131071)			\
	X(rpg_byte_reset, 32767, 1, 32767)			\
	X(rpg_threshold, 1, 1, 31)				\
	X(rpg_max_rate, 0, 0, 1000000)				\
	X(rpg_ai_rate, 5, 1, 1000000)				\
	X(rpg_hai_rate, 50, 1, 1000000)				\
	X(rpg_gd, 11, 0, 15)					\
	X(rpg_min_dec_fac, 50, 1, 100)				\
	X(rpg_min_rate, 1, 1, 1000000)				\
	X(clamp_tgt_rate, 0, 0, 1)				\
	X(clamp_tgt_rate_after_time_inc, 1, 0, 1)		\
	X(dce_tcp_g, 1019, 1, 1023)				\
	X(dce_tcp_rtt, 55, 1, 131071)				\
	X(rate_to_set_on_first_cnp, 0, 0, 1000000)		\
	X(initial_alpha_value, 1023, 1, 1023)			\
	X(rate_reduce_monitor_period, 4, 1, 131071)		\
	X(min_time_between_cnps, 50, 0, 4095)

enum rover_dcqcn_knob {
#define X(name, value, least, greatest) ROVER_DCQCN_##name,
	ROVER_DCQCN_KNOBS(X)
#undef X
	ROVER_DCQCN_KNOB_COUNT
};

/**
 * struct rover_dcqcn_knob_info - a knob
 * @name: file name
 * @value: default
 * @least: bound
 * @greatest: bound
 */
struct rover_dcqcn_knob_info {
	const char *name;
	u32 value;
	u32 least;
	u32 greatest;
};

extern const struct rover_dcqcn_knob_info
	rover_dcqcn_knobs[ROVER_DCQCN_KNOB_COUNT];

/**
 * struct rover_cc_config - congestion control of a device
 * @ops: algorithm of new connections; NULL for that of the namespace
 * @dcqcn: knobs
 *
 * Without a lock: all are hints that may change at any time.
 */
struct rover_cc_config {
	const struct rover_cc_ops *ops;
	u32 dcqcn[ROVER_DCQCN_KNOB_COUNT];
};

#endif /* ROVER_CC_CONFIG_H */
