// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * arm_test.c: the rule of arming in cq.c. Letters: N arms for the next
 * completion, S for a solicited one; c completes, C solicited; e reads an event.
 */
#include "test.h"

/* Plays a script; the kernel's events must come where there is a '!'. */
static bool plays(const char *script)
{
	struct ibv_cq *cq = fake_cq(64);
	struct rover_cqe cqe = { 0 };
	bool fired = false, good = true;

	for (; *script; script++) {
		switch (*script) {
		case 'N':
			rover_arm_cq(cq, 0);
			break;
		case 'S':
			rover_arm_cq(cq, 1);
			break;
		case 'e':
			rover_cq_event(cq);
			break;
		case 'r':
			good &= !rover_resize_cq(cq, 64);
			break;
		case 'c':
		case 'C':
			fired = fake_complete(&kernel.cq, &cqe, *script == 'C');
			good &= fired == (script[1] == '!');
			break;
		}
	}
	rover_destroy_cq(cq);
	return good;
}

static void test_plain(void)
{
	expect(plays("cC"));		/* never armed */
	expect(plays("Nc!cC"));		/* one event for one request */
	expect(plays("NC!cC"));
	expect(plays("ScC!cC"));	/* only solicited ones */
	expect(plays("Nc!eScC!e"));	/* back to solicited after the event */
	expect(plays("NNc!c"));
}

static void test_no_downgrade(void)
{
	expect(plays("NSc!c"));		/* NEXT stands */
	expect(plays("SNc!c"));
	expect(plays("NSSc!c"));
	expect(plays("Nc!eNSc!"));
}

/* An event that is still unread is no answer to a request made since. */
static void test_nothing_lost(void)
{
	expect(plays("Nc!Nc!"));
	expect(plays("Nc!SC!"));
	expect(plays("Nc!NeSc!"));	/* the event was of the first NEXT */
	expect(plays("NNc!eSC!"));
}

static void test_resize(void)
{
	expect(plays("Nrc!c"));
	expect(plays("SrcC!"));
	expect(plays("Nc!rcC"));
	expect(plays("Nc!erNc!"));
}

static void test_words(void)
{
	struct ibv_cq *cq = fake_cq(4);
	uint32_t last = 0, word;
	int i;

	for (i = 0; i < 10; i++) {
		rover_arm_cq(cq, i & 1);
		word = kernel.cq.hdr->arm;
		expect((word ^ last) & ~ROVER_ARM_MASK);
		expect(word & ROVER_ARM_MASK);
		last = word;
	}
	expect(!kernel.doorbells);
	rover_destroy_cq(cq);
}

static void test_moderate(void)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 7, .cq_period = 65535 },
	};
	struct ibv_cq *cq = fake_cq(4);

	expect(!rover_modify_cq(cq, &attr));
	expect(kernel.moderate.cq_count == 7);
	expect(kernel.moderate.cq_period == 65535);
	attr.attr_mask = 0;
	expect(rover_modify_cq(cq, &attr) == EINVAL);
	rover_destroy_cq(cq);
}

const struct test arm_tests[] = {
	{ "arm: next, solicited, once", test_plain },
	{ "arm: solicited does not weaken next", test_no_downgrade },
	{ "arm: no event is lost", test_nothing_lost },
	{ "arm: resizing carries the request over", test_resize },
	{ "arm: each word is a new one, without entering the kernel", test_words },
	{ "arm: moderation is the kernel's affair", test_moderate },
	{ NULL, NULL },
};
