// SPDX-License-Identifier: GPL-2.0
/*
 * trace - the one place where the tracepoints of trace.h are made
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
