#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pyverbs: rdma-core's own test suite on one device. tools/pyverbs/run runs and judges it; tools/pyverbs/skips says what it leaves out.
exec on a "$(dirname "$0")/../tools/pyverbs/run" --ktap "$DEV_A"
