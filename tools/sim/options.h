/* SPDX-License-Identifier: GPL-2.0 */
/* options - what a run is made of */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* Verbs of a workload; MIXED takes all. */
enum verb {
	VERB_WRITE, VERB_WRITE_IMM, VERB_SEND, VERB_SEND_IMM, VERB_READ,
	VERB_ATOMIC, VERB_MIXED, VERBS
};

/* Algorithms of congestion control. */
enum cc { CC_WINDOW, CC_DCQCN, CCS };

extern const char * const options_ccs[CCS];

/* How an option is written. */
enum option_kind {
	OPTION_NUM,
	OPTION_FLAG,
	OPTION_TIME,	/* ns, us, ms, s */
	OPTION_RATE,	/* bits per second: M, G */
	OPTION_SIZE,	/* bytes: K, M */
	OPTION_PART,	/* 0.01 or 1%; kept in billionths */
	OPTION_VERB,
	OPTION_CC,	/* name of an algorithm of congestion control */
};

/* The backward network takes what it is not given from the forward one. */
#define OPTION_SAME	(~0ULL)
#define OPTION_ONE	1000000000ULL

#define OPTIONS(X)							\
	X(seed, NUM, 1, "of all random numbers")			\
	X(pairs, NUM, 1, "queue pairs; they share the network")		\
	X(both, FLAG, 0, "both ends send")				\
	X(verb, VERB, VERB_WRITE, "write write_imm send send_imm read atomic mixed") \
	X(size, SIZE, 65536, "bytes of a message")			\
	X(min_size, SIZE, OPTION_SAME, "random sizes from here to --size") \
	X(depth, NUM, 16, "messages posted at a time")			\
	X(messages, NUM, 2000, "of each sender")			\
	X(stagger, TIME, 0, "senders start at random times until then")	\
	X(apart, TIME, 0, "a sender starts so long after the one before") \
	X(gap, TIME, 0, "mean time between messages of a sender")	\
	X(sges, NUM, 1, "entries of a scatter or gather list")		\
	X(unsignaled, PART, 0, "sends without completion")		\
	X(mtu, NUM, 1024, "path MTU")					\
	X(psn, NUM, OPTION_SAME, "first PSN of all; else random")	\
	X(gbn, FLAG, 0, "go back N: both ends take the other for a foreign one") \
	X(fresh, FLAG, 0, "the ends do not know yet what the peer understands") \
	X(timeout, NUM, 14, "local ACK timeout")			\
	X(retry, NUM, 7, "retry_cnt")					\
	X(rnr_retry, NUM, 7, "rnr_retry")				\
	X(rnr_timer, NUM, 12, "min_rnr_timer")				\
	X(rd_atomic, NUM, 16, "READs and atomics in flight")		\
	X(receives, NUM, OPTION_SAME, "posted; else twice --depth")	\
	X(app, TIME, 1000, "a program sees its completions after it")	\
	X(app_slow, TIME, 0, "random part more")			\
	X(tick, TIME, 4000, "packets of a tick are received together")	\
	X(batch, NUM, 64, "at most so many")				\
	X(cpu, TIME, 0, "of a received packet")				\
	X(cpu_tx, TIME, 0, "of a sent packet")				\
	X(pause, TIME, 0, "a receiving CPU stands still now and then")	\
	X(pause_every, TIME, 100000000, "mean time between that")	\
	X(away, TIME, 0, "a CPU does something else for up to so long")	\
	X(away_every, TIME, 5000000, "mean time between that")		\
	X(txq, NUM, 64, "trains in the sender's netdev")		\
	X(nic, RATE, 0, "of each sender's netdev; else --rate")		\
	X(rate, RATE, 10000000000ULL, "of the bottleneck")		\
	X(rrate, RATE, OPTION_SAME, "backward")				\
	X(delay, TIME, 20000, "one way")				\
	X(rdelay, TIME, OPTION_SAME, "backward")			\
	X(jitter, TIME, 0, "random part more for each packet: reorders") \
	X(rjitter, TIME, OPTION_SAME, "backward")			\
	X(queue, SIZE, 4194304, "of the bottleneck, drop-tail")		\
	X(rqueue, SIZE, OPTION_SAME, "backward")			\
	X(ecn_min, SIZE, 0, "queue from which packets are marked; 0 never") \
	X(ecn_max, SIZE, 0, "queue from which all are")			\
	X(ecn_part, PART, OPTION_ONE / 10, "marked just below ecn_max")	\
	X(red, FLAG, 0, "drop instead of marking")			\
	X(cc, CC, CC_WINDOW, "congestion control: window dcqcn")		\
	X(loss, PART, 0, "lost packets")				\
	X(rloss, PART, OPTION_SAME, "backward")				\
	X(burst, NUM, 0, "mean length of bursts of losses (Gilbert)")	\
	X(rburst, NUM, OPTION_SAME, "backward")				\
	X(dup, PART, 0, "packets that arrive twice")			\
	X(rdup, PART, OPTION_SAME, "backward")				\
	X(corrupt, PART, 0, "packets dropped for their ICRC")		\
	X(rcorrupt, PART, OPTION_SAME, "backward")			\
	X(train, NUM, 1, "packets lost together")			\
	X(dead, TIME, 0, "the network carries nothing from then on")	\
	X(stall, TIME, 20000000000ULL, "longest time without progress")	\
	X(until, TIME, 0, "end of posting")				\
	X(kv, FLAG, 0, "results as key=value in one line")		\
	X(quiet, FLAG, 0, "retransmissions and timeouts are failures")	\
	X(audit, FLAG, 0, "count READs and atomics in flight")		\
	X(flows, FLAG, 0, "print each flow")				\
	X(sample, TIME, 0, "print each sender's progress after it")	\
	X(ladder, FLAG, 0, "print each packet")				\
	X(counters, FLAG, 0, "print rover's counters")

struct options {
#define X(name, kind, value, help) name,
	u64 OPTIONS(X) end;
#undef X
};

extern struct options opts;

/* Set the knob of DCQCN with this number in rover_dcqcn_knobs. */
struct knob_rule {
	u32 knob;
	u32 value;
};

#define KNOB_RULES	16
extern struct knob_rule knob_rules[KNOB_RULES];
extern unsigned int knob_rule_count;

/* Drop packet @nth of @opcode in transmission @pass of its PSN; 0 for any. */
struct drop_rule {
	u8 opcode;
	u32 nth;
	u32 pass;
	u32 seen;
};

#define DROP_RULES	16
extern struct drop_rule drop_rules[DROP_RULES];
extern unsigned int drop_rule_count;

/* A value of the backward network, or of the forward one. */
#define OPTION_WAY(back, name) \
	((back) && opts.r##name != OPTION_SAME ? opts.r##name : opts.name)

void options_reset(void);
/* Return what is wrong with the options, or NULL. */
const char *options_check(void);
/* Parse --NAME VALUE; return the arguments used, or 0 if it is unknown. */
int options_parse(const char *name, const char *value);
void options_help(void);
/* Print what differs from the defaults. */
void options_print(FILE *to);

#endif /* SIM_OPTIONS_H */
