// SPDX-License-Identifier: GPL-2.0
/*
 * craft - build packets from the steps of a rule, and compare packets with steps
 */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "craft.h"

/* Headers between BTH and payload, in this order */
enum {
	XRCETH = 1, DETH = 2, FETH = 4, RETH = 8, ATOMETH = 16, AETH = 32, ORIG = 64,
	IMM = 128, INV = 256, WORD8 = 512,
};

static const uint16_t extended[32] = {
	[SEND_LAST_IMM] = IMM, [SEND_ONLY_IMM] = IMM, [WRITE_FIRST] = RETH,
	[WRITE_LAST_IMM] = IMM, [WRITE_ONLY] = RETH, [WRITE_ONLY_IMM] = RETH | IMM,
	[READ_REQUEST] = RETH, [RESP_FIRST] = AETH, [RESP_LAST] = AETH, [RESP_ONLY] = AETH,
	[ACKNOWLEDGE] = AETH, [ATOMIC_ACK] = AETH | ORIG, [CMP_SWAP] = ATOMETH,
	[FETCH_ADD] = ATOMETH, [SEND_LAST_INV] = INV, [SEND_ONLY_INV] = INV,
	[FLUSH] = FETH | RETH, [ATOMIC_WRITE] = RETH | WORD8,
};

static bool is_response(unsigned int op)
{
	return op >= RESP_FIRST && op <= ATOMIC_ACK;
}

static bool is_end(unsigned int op)
{
	return op != SEND_FIRST && op != SEND_MIDDLE && op != WRITE_FIRST && op != WRITE_MIDDLE;
}

/* Opcode on the wire, and its headers */
static uint8_t opcode_of(const struct craft *c, uint16_t op)
{
	return op & 0x100 ? op : op | c->service;
}

static unsigned int headers_of(uint8_t opcode)
{
	unsigned int op = opcode & 0x1f, headers = extended[op];

	if (opcode == OP_CNP)
		return 0;
	if ((opcode & 0xe0) == SERVICE_UD)
		headers |= DETH;
	if ((opcode & 0xe0) == SERVICE_XRC && !is_response(op))
		headers |= XRCETH;
	return headers;
}

size_t craft_filled(const uint8_t *bytes, size_t len, uint8_t fill)
{
	size_t at;

	for (at = 0; at < len && bytes[at] == fill; at++)
		;
	return at;
}

/* ---- sending ---- */

struct body {
	uint8_t bytes[9000];
	size_t len;
};

static void put(struct body *body, const void *data, size_t len)
{
	assert(body->len + len <= sizeof(body->bytes));
	memcpy(body->bytes + body->len, data, len);
	body->len += len;
}

static void put32(struct body *body, uint32_t value)
{
	value = htonl(value);
	put(body, &value, sizeof(value));
}

static void put64(struct body *body, uint64_t value)
{
	value = htobe64(value);
	put(body, &value, sizeof(value));
}

static uint32_t dma_of(const struct step *step, uint8_t opcode)
{
	if (step->dma)
		return step->dma == NO_BYTES ? 0 : step->dma;
	return (opcode & 0x1f) == ATOMIC_WRITE ? 8 : step->len;
}

static void put_headers(const struct craft *c, const struct step *step, uint8_t opcode,
			struct body *body)
{
	unsigned int headers = headers_of(opcode);
	uint64_t va = (step->absolute ? 0 : (uintptr_t)c->s->remote->buf) + step->at;
	bool limited = step->aeth & 0x60 || step->credits;

	if (headers & XRCETH)
		put32(body, c->srqns[step->srq]);
	if (headers & DETH) {
		put32(body, step->qkey ?: PEER_QKEY);
		put32(body, c->peer_qpn);
	}
	if (headers & FETH)
		put32(body, step->feth);
	if (headers & (RETH | ATOMETH)) {
		put64(body, va);
		put32(body, c->keys[step->key]);
	}
	if (headers & RETH)
		put32(body, dma_of(step, opcode));
	if (headers & (ATOMETH | WORD8))
		put64(body, step->value);
	if (headers & ATOMETH)
		put64(body, step->compare);
	if (headers & AETH)
		put32(body, (uint32_t)(limited ? step->aeth : AETH_NO_LIMIT) << 24 | step->msn);
	if (headers & ORIG)
		put64(body, step->value);
	if (headers & IMM)
		put32(body, PEER_IMM);
	if (headers & INV)
		put32(body, c->keys[step->key]);
}

void craft_send(struct craft *c, const struct step *step, uint16_t each)
{
	uint16_t op = step->op == EACH ? each : step->op;
	uint8_t opcode = opcode_of(c, op);
	bool response = is_response(opcode & 0x1f) && opcode != OP_CNP;
	uint32_t psn = (response ? c->psn : c->peer_psn) + step->psn;
	size_t pad = -step->len & 3;
	struct body body = { .len = 0 };
	struct peer_bth bth = {
		.opcode = opcode,
		.flags = step->flags ^ pad << 4,
		.pkey = step->pkey ?: 0xffff,
		.qpn = c->qpn ^ step->qpn_bits,
		.psn = (psn & 0xffffff) ^ step->psn_bits,
	};

	if (step->ackreq || (is_end(opcode & 0x1f) && !response && !step->no_ackreq))
		bth.psn |= PEER_ACKREQ;
	put_headers(c, step, opcode, &body);
	assert(body.len + step->len + pad <= sizeof(body.bytes));
	memset(body.bytes + body.len, step->fill ?: FILL(step->psn), step->len);
	memset(body.bytes + body.len + step->len, 0, pad);
	body.len += step->len + pad;
	assert(body.len >= step->cut);
	peer_send(&c->s->peer, &bth, body.bytes, body.len - step->cut, step->spoil);
}

/* ---- comparing ---- */

bool craft_is_request(struct craft *c)
{
	uint8_t opcode = c->s->peer.bth.opcode;

	return opcode != OP_CNP && !is_response(opcode & 0x1f);
}

static char why[200];

static bool same(const char *what, uint64_t is, uint64_t want)
{
	if (is == want)
		return true;
	snprintf(why, sizeof(why), "%s is 0x%llx, not 0x%llx", what, (unsigned long long)is,
		 (unsigned long long)want);
	return false;
}

static uint32_t get32(const uint8_t **at)
{
	uint32_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return ntohl(value);
}

static uint64_t get64(const uint8_t **at)
{
	uint64_t high = get32(at);

	return high << 32 | get32(at);
}

static size_t bytes_of(unsigned int headers)
{
	return (headers & XRCETH ? 4 : 0) + (headers & DETH ? 8 : 0) + (headers & FETH ? 4 : 0) +
	       (headers & RETH ? 16 : 0) + (headers & ATOMETH ? 28 : 0) + (headers & AETH ? 4 : 0) +
	       (headers & ORIG ? 8 : 0) + (headers & (IMM | INV) ? 4 : 0) +
	       (headers & WORD8 ? 8 : 0);
}

static bool aeth_good(const struct step *step, uint32_t aeth)
{
	uint8_t syndrome = aeth >> 24;

	/* The number of credits is not compared. */
	if (!step->credits && !(syndrome & 0x60))
		syndrome = 0;
	return same("AETH syndrome", syndrome, step->aeth) &&
	       same("MSN", aeth & 0xffffff, step->msn);
}

static bool headers_good(struct craft *c, const struct step *step, unsigned int headers,
			 const uint8_t **at)
{
	bool good = true;

	if (headers & XRCETH)
		good = same("XRCETH", get32(at), c->srqns[step->srq]);
	if (good && headers & FETH)
		good = same("FETH", get32(at), step->feth);
	if (good && headers & (RETH | ATOMETH))
		good = same("remote address", get64(at), PEER_VA + step->at) &&
		       same("R_Key", get32(at), PEER_RKEY);
	if (good && headers & RETH)
		good = same("DMA length", get32(at), dma_of(step, step->op));
	if (good && headers & (ATOMETH | WORD8))
		good = same("first operand", get64(at), step->value);
	if (good && headers & ATOMETH)
		good = same("compare operand", get64(at), step->compare);
	if (good && headers & AETH)
		good = aeth_good(step, get32(at));
	if (good && headers & ORIG)
		good = same("original value", get64(at), step->value);
	if (good && headers & IMM)
		good = same("immediate data", get32(at), PEER_IMM);
	if (good && headers & INV)
		good = same("key to invalidate", get32(at), PEER_RKEY);
	return good;
}

static bool bth_good(struct craft *c, const struct step *step, uint8_t opcode)
{
	bool response = is_response(opcode & 0x1f), cnp = opcode == OP_CNP;
	uint32_t psn = (response ? c->peer_psn : c->psn) + step->psn;
	const struct peer_bth *bth = &c->s->peer.bth;

	return same("opcode", bth->opcode, opcode) &&
	       (cnp || same("PSN", bth->psn & 0xffffff, psn & 0xffffff)) &&
	       same("destination QP", bth->qpn, c->peer_qpn | step->qpn_bits) &&
	       same("SE bit", bth->flags & PEER_SE, step->flags & PEER_SE) &&
	       (!(step->ackreq || step->no_ackreq) ||
		same("AckReq", !!(bth->psn & PEER_ACKREQ), step->ackreq));
}

/* The payload of a selective ACK: Documentation/interop.rst */
static bool sack_good(struct craft *c, const struct step *step, const uint8_t *at, size_t len)
{
	return same("length of the ranges", len, 12) &&
	       same("number of duplicates", get32(&at), step->duplicates) &&
	       same("begin of the range", get32(&at), (c->peer_psn + step->held) & 0xffffff) &&
	       same("end of the range", get32(&at), (c->peer_psn + step->held_end) & 0xffffff);
}

const char *craft_judge(struct craft *c, const struct step *step)
{
	struct peer *peer = &c->s->peer;
	uint8_t opcode = opcode_of(c, step->op), fill = step->fill;
	bool response = is_response(opcode & 0x1f) && opcode != OP_CNP;
	unsigned int headers = headers_of(opcode);
	const uint8_t *at = peer->body;
	size_t first;

	if (!bth_good(c, step, opcode) ||
	    (peer->len < bytes_of(headers) && !same("length", peer->len, bytes_of(headers))) ||
	    !headers_good(c, step, headers, &at))
		return why;
	if (step->sack)
		return sack_good(c, step, at, peer->len - (at - peer->body)) ? NULL : why;
	if (!same("payload length", peer->len - (at - peer->body), step->len))
		return why;
	if (!fill)
		fill = opcode == OP_CNP ? 0 : response ? UNTOUCHED : LOCAL_FILL;
	first = craft_filled(at, step->len, fill);
	return first == step->len || same("payload", at[first], fill) ? NULL : why;
}
