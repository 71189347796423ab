// SPDX-License-Identifier: GPL-2.0
/*
 * test_icrc - whole packets from vectors.py, with each of their bits flipped
 */
#include <string.h>

#include "wire/icrc.h"
#include "icrc_ref.h"
#include "ktap.h"

#include "vectors.h"

#define VECTORS	(sizeof(vectors) / sizeof(*vectors))
#define BUFFER	8192

static u16 be16_at(const u8 *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static bool is6(const u8 *packet)
{
	return packet[0] >> 4 == 6;
}

/* Bits that do not count: variant fields, and lengths passed separately. */
static u8 variant_bits(const u8 *packet, size_t at)
{
	size_t bth = icrc_bth_at(packet);

	if (at == bth + 4 || (!icrc_is_grh(packet) && (at == bth - 2 || at == bth - 1)))
		return 0xff;
	if (icrc_is_grh(packet)) {
		if (!at)
			return 0x0f;
		return at <= 3 || at == 7 ? 0xff : 0;
	}
	if (is6(packet)) {
		if (!at)
			return 0x0f;
		return at <= 5 || at == 7 ? 0xff : 0;
	}
	return at == 1 || at == 2 || at == 3 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
}

static __le32 icrc_of(const u8 *packet, size_t len)
{
	__be16 id;

	memcpy(&id, packet + 4, sizeof(id));
	return icrc_rover(packet, len, be16_at(packet + icrc_len_at(packet)), id);
}

static bool each_bit(const u8 *bytes, size_t len)
{
	u8 packet[BUFFER];
	__le32 icrc;

	memcpy(packet, bytes, len);
	icrc = icrc_of(packet, len);
	/* The version tells the kind of packet: do not flip it. */
	for (size_t bit = 4; bit < 8 * len; bit++) {
		size_t at = bit / 8;
		u8 mask = 0x80 >> bit % 8;
		bool same;

		/* Nor the next header, which tells a GRH. */
		if (icrc_is_grh(packet) && at == 6)
			continue;
		packet[at] ^= mask;
		same = icrc_of(packet, len) == icrc;
		packet[at] ^= mask;
		if (same != !!(variant_bits(packet, at) & mask))
			return ktap_note("byte %zu, bit %#x: %s", at, mask,
					 same ? "not covered" : "covered");
	}
	return true;
}

/* Headers of a train: its length, identification and checksum. */
static bool head_of_train(const u8 *bytes, size_t len)
{
	u16 udp_len = be16_at(bytes + icrc_bth_at(bytes) - 4);
	__le32 icrc = icrc_of(bytes, len);
	u8 packet[BUFFER];
	__be16 id;

	memcpy(&id, bytes + 4, sizeof(id));
	memcpy(packet, bytes, len);
	packet[icrc_bth_at(packet) - 4] ^= 0xa5;
	packet[icrc_bth_at(packet) - 3] ^= 0x5a;
	packet[4] ^= 0x11;
	packet[5] ^= 0x22;
	if (!is6(packet))
		packet[2] ^= 0x44;
	return icrc_rover(packet, len, udp_len, id) == icrc;
}

static bool in_pieces(const u8 *bytes, size_t len)
{
	u32 whole = rover_icrc_add(~0U, bytes, len);

	for (size_t cut = 0; cut <= len; cut++) {
		u32 crc = rover_icrc_add(~0U, bytes, cut);

		if (rover_icrc_add(crc, bytes + cut, len - cut) != whole)
			return ktap_note("cut at %zu", cut);
	}
	return true;
}

static void test_vector(unsigned int i)
{
	const char *name = vectors[i].name;
	const u8 *bytes = vectors[i].bytes;
	size_t len = vectors[i].len - 4;
	__le32 want;

	memcpy(&want, bytes + len, sizeof(want));
	ktap_eq(le32_to_cpu(icrc_of(bytes, len)), le32_to_cpu(want), "%s: ICRC", name);
	ktap_eq(le32_to_cpu(icrc_plain(bytes, len)), le32_to_cpu(want), "%s: plain ICRC", name);
	ktap_ok(each_bit(bytes, len), "%s: all bits covered but the variant ones", name);
	/* RoCE v1 has no trains. */
	if (!icrc_is_grh(bytes))
		ktap_ok(head_of_train(bytes, len), "%s: lengths and identification of a train",
			name);
}

int main(void)
{
	static const u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	ktap_eq(~rover_icrc_add(~0U, "123456789", 9), 0xcbf43926, "check value of CRC-32");
	ktap_eq(rover_icrc_add(~0U, ones, 8), 0xdebb20e3, "the sum of eight bytes of ones");
	for (unsigned int i = 0; i < VECTORS; i++)
		test_vector(i);
	ktap_ok(in_pieces(vectors[0].bytes, vectors[0].len), "a sum in two pieces is the same");
	return ktap_done();
}
