// SPDX-License-Identifier: GPL-2.0
/* options - what a run is made of */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc_config.h"
#include "options.h"
#include "wire/opcode.h"

struct options opts;
struct drop_rule drop_rules[DROP_RULES];
unsigned int drop_rule_count;
struct knob_rule knob_rules[KNOB_RULES];
unsigned int knob_rule_count;

struct option {
	const char *name;
	enum option_kind kind;
	size_t at;
	u64 value;
	const char *help;
};

static const struct option options_all[] = {
#define X(name, kind, value, help) \
	{ #name, OPTION_##kind, offsetof(struct options, name), value, help },
	OPTIONS(X)
#undef X
};

#define OPTIONS_COUNT	(sizeof(options_all) / sizeof(options_all[0]))

static const char * const options_verbs[VERBS] = {
	"write", "write_imm", "send", "send_imm", "read", "atomic", "mixed",
};

const char * const options_ccs[CCS] = { "window", "dcqcn" };

static u64 *options_value(const struct option *o)
{
	return (void *)((char *)&opts + o->at);
}

void options_reset(void)
{
	size_t i;

	for (i = 0; i < OPTIONS_COUNT; i++)
		*options_value(&options_all[i]) = options_all[i].value;
	drop_rule_count = 0;
	knob_rule_count = 0;
}

/* A number with a unit, in units of @kind. */
static bool options_scale(enum option_kind kind, const char *unit, double *n)
{
	static const struct {
		const char *unit;
		double factor;
		enum option_kind kind;
	} units[] = {
		{ "ns", 1, OPTION_TIME }, { "us", 1e3, OPTION_TIME },
		{ "ms", 1e6, OPTION_TIME }, { "s", 1e9, OPTION_TIME },
		{ "M", 1e6, OPTION_RATE }, { "G", 1e9, OPTION_RATE },
		{ "K", 1024, OPTION_SIZE }, { "M", 1 << 20, OPTION_SIZE },
		{ "G", 1 << 30, OPTION_SIZE }, { "%", 1e7, OPTION_PART },
		{ "", OPTION_ONE, OPTION_PART },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].kind == kind && !strcmp(units[i].unit, unit)) {
			*n *= units[i].factor;
			return true;
		}
	return !*unit;
}

static bool options_set_name(u64 *value, const char * const *names, u64 count,
			     const char *text)
{
	for (*value = 0; *value < count; ++*value)
		if (!strcmp(names[*value], text))
			return true;
	return false;
}

static bool options_set(const struct option *o, const char *text)
{
	u64 *value = options_value(o);
	char *unit;
	double n;

	if (o->kind == OPTION_VERB)
		return options_set_name(value, options_verbs, VERBS, text);
	if (o->kind == OPTION_CC)
		return options_set_name(value, options_ccs, CCS, text);
	n = strtod(text, &unit);
	if (unit == text || n < 0 || !options_scale(o->kind, unit, &n))
		return false;
	*value = n + 0.5;
	return true;
}

/* "RDMA WRITE First" is write_first here. */
static bool options_same_opcode(const char *name, const char *text)
{
	if (!strncmp(name, "RDMA ", 5))
		name += 5;
	for (; *name && *text; name++, text++) {
		char c = *name == ' ' ? '_' : *name | 0x20;

		if (c != *text)
			return false;
	}
	return !*name && !*text;
}

/* OPCODE:NTH[:PASS] */
static bool options_add_rule(const char *text)
{
	struct drop_rule rule = { };
	char name[64];
	int opcode;

	if (drop_rule_count == DROP_RULES ||
	    sscanf(text, "%63[^:]:%u:%u", name, &rule.nth, &rule.pass) < 2)
		return false;
	for (opcode = 0; opcode < 256; opcode++) {
		const struct rover_opcode *op = rover_opcode_get(opcode);

		if (op && options_same_opcode(op->name, name))
			break;
	}
	rule.opcode = opcode;
	drop_rules[drop_rule_count++] = rule;
	return opcode < 256;
}

/* KNOB=VALUE */
static bool options_add_knob(const char *text)
{
	struct knob_rule rule = { };
	char name[64];

	if (knob_rule_count == KNOB_RULES ||
	    sscanf(text, "%63[^=]=%u", name, &rule.value) != 2)
		return false;
	while (rule.knob < ROVER_DCQCN_KNOB_COUNT &&
	       strcmp(rover_dcqcn_knobs[rule.knob].name, name))
		rule.knob++;
	knob_rules[knob_rule_count++] = rule;
	return rule.knob < ROVER_DCQCN_KNOB_COUNT;
}

int options_parse(const char *name, const char *value)
{
	size_t i;

	if (!strcmp(name, "drop"))
		return value && options_add_rule(value) ? 2 : 0;
	if (!strcmp(name, "knob"))
		return value && options_add_knob(value) ? 2 : 0;
	for (i = 0; i < OPTIONS_COUNT; i++) {
		const struct option *o = &options_all[i];

		if (strcmp(o->name, name))
			continue;
		if (o->kind == OPTION_FLAG) {
			*options_value(o) = 1;
			return 1;
		}
		return value && options_set(o, value) ? 2 : 0;
	}
	return 0;
}

static const char *options_units(enum option_kind kind)
{
	static const char * const units[] = {
		[OPTION_NUM] = "N", [OPTION_FLAG] = "",
		[OPTION_TIME] = "N[us|ms|s]", [OPTION_RATE] = "N[M|G]",
		[OPTION_SIZE] = "N[K|M]", [OPTION_PART] = "N[%]",
		[OPTION_VERB] = "VERB", [OPTION_CC] = "NAME",
	};

	return units[kind];
}

const char *options_check(void)
{
	if (opts.mtu < 256 || opts.mtu > 4096 || opts.mtu & (opts.mtu - 1))
		return "--mtu is 256 to 4096, a power of two";
	if (!opts.depth || opts.depth > 16384 || opts.size > 1 << 30)
		return "--depth is 1 to 16384, --size up to 1G";
	if (!opts.receives || !opts.pairs || !opts.batch || !opts.txq)
		return "--receives, --pairs, --batch and --txq are not 0";
	if (!opts.sges || opts.sges > 32 || !opts.rd_atomic || opts.rd_atomic > 64)
		return "--sges is 1 to 32, --rd_atomic 1 to 64";
	if (!opts.rate || !opts.rrate)
		return "--rate is not 0";
	if (opts.ecn_min > opts.ecn_max)
		return "--ecn_min is at most --ecn_max";
	return NULL;
}

void options_help(void)
{
	size_t i;

	for (i = 0; i < OPTIONS_COUNT; i++) {
		const struct option *o = &options_all[i];
		char head[40];

		snprintf(head, sizeof(head), "--%s %s", o->name,
			 options_units(o->kind));
		printf("  %-22s %s", head, o->help);
		if (o->kind == OPTION_VERB)
			printf(" (%s)\n", options_verbs[o->value]);
		else if (o->kind == OPTION_CC)
			printf(" (%s)\n", options_ccs[o->value]);
		else if (o->value && o->value != OPTION_SAME)
			printf(" (%.10g)\n", o->kind == OPTION_PART ?
			       (double)o->value / OPTION_ONE :
			       (double)o->value);
		else
			puts("");
	}
}

static void options_print_rule(FILE *to, const struct drop_rule *rule)
{
	const char *name = rover_opcode_get(rule->opcode)->name;

	fputs(" --drop ", to);
	for (name += strncmp(name, "RDMA ", 5) ? 0 : 5; *name; name++)
		fputc(*name == ' ' ? '_' : *name | 0x20, to);
	fprintf(to, ":%u:%u", rule->nth, rule->pass);
}

void options_print(FILE *to)
{
	size_t i;

	for (i = 0; i < OPTIONS_COUNT; i++) {
		const struct option *o = &options_all[i];
		u64 value = *options_value(o);

		if (value == o->value)
			continue;
		fprintf(to, " --%s", o->name);
		if (o->kind == OPTION_VERB)
			fprintf(to, " %s", options_verbs[value]);
		else if (o->kind == OPTION_CC)
			fprintf(to, " %s", options_ccs[value]);
		else if (o->kind == OPTION_PART)
			fprintf(to, " %.10g", (double)value / OPTION_ONE);
		else if (o->kind != OPTION_FLAG)
			fprintf(to, " %llu", (unsigned long long)value);
	}
	for (i = 0; i < drop_rule_count; i++)
		options_print_rule(to, &drop_rules[i]);
	for (i = 0; i < knob_rule_count; i++)
		fprintf(to, " --knob %s=%u",
			rover_dcqcn_knobs[knob_rules[i].knob].name,
			knob_rules[i].value);
}
