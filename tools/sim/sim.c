// SPDX-License-Identifier: GPL-2.0
/* sim - the transport of rover over a network in virtual time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options.h"
#include "run.h"

static int sim_help(void)
{
	puts("sim [OPTION...]		one run\n"
	     "sim --fuzz SECONDS [--class NAME] [--first SEED]	random runs, KTAP\n"
	     "sim --class NAME --seed N	one of these runs again\n\n"
	     "  --drop OPCODE:N[:PASS] drop the N-th such packet (0: all), of PASS 1\n"
	     "                         (first transmission) or 2 (retransmission);\n"
	     "                         OPCODE as write_first, acknowledge\n"
	     "  --knob NAME=VALUE      set a knob of DCQCN");
	options_help();
	fputs("\nClasses:", stdout);
	fuzz_print_classes();
	return 0;
}

static int sim_bad(const char *arg)
{
	fprintf(stderr, "sim: what is %s? See --help\n", arg);
	return 2;
}

static const char *sim_class;
static int sim_seconds;

/* Options about runs, not of one; return as options_parse(). */
static int sim_parse(const char *name, const char *value)
{
	if (!value)
		return 0;
	if (!strcmp(name, "fuzz"))
		sim_seconds = atoi(value);
	else if (!strcmp(name, "class"))
		sim_class = value;
	else if (!strcmp(name, "first"))
		opts.seed = strtoull(value, NULL, 0);
	else
		return 0;
	return 2;
}

static int sim_run(void)
{
	const char *wrong = options_check();
	bool good;

	if (wrong) {
		fprintf(stderr, "sim: %s\n", wrong);
		return 2;
	}
	good = run_once(true);
	if (!good) {
		fputs("sim: FAILED:", stdout);
		options_print(stdout);
		puts("");
	}
	return !good;
}

int main(int argc, char **argv)
{
	int i, used;

	options_reset();
	for (i = 1; i < argc; i += used) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--help"))
			return sim_help();
		if (strncmp(argv[i], "--", 2))
			return sim_bad(argv[i]);
		used = options_parse(argv[i] + 2, value);
		if (!used)
			used = sim_parse(argv[i] + 2, value);
		if (!used)
			return sim_bad(argv[i]);
	}
	if (sim_seconds)
		return fuzz_run(sim_seconds, sim_class);
	/* Other options then overrule those of the class. */
	if (sim_class) {
		if (!fuzz_choose(sim_class, opts.seed))
			return sim_bad(sim_class);
		for (i = 1; i < argc; i += used) {
			used = options_parse(argv[i] + 2, argv[i + 1]);
			if (!used)
				used = 2;
		}
	}
	return sim_run();
}
