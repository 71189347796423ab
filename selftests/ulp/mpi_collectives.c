// SPDX-License-Identifier: GPL-2.0
/*
 * mpi_collectives - MPI collectives, with all results checked
 *
 *	mpirun ... mpi_collectives [ELEMENTS...]
 *
 * Each operation runs with so many elements of 64 bits. The input is a function of
 * the sender, the place and the round, so each rank knows the result. Rank 0 prints
 * a line for each operation that was right at all ranks; the first wrong element
 * ends the job.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t word;

static int rank, ranks;
static word round_number;

static void __attribute__((noreturn)) give_up(const char *what, int at, word got, word want)
{
	fprintf(stderr, "rank %d: %s: element %d is %llx, not %llx\n", rank, what, at,
		(unsigned long long)got, (unsigned long long)want);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* What rank @who has at place @at in this round. */
static word value(int who, int at)
{
	word x = round_number << 48 ^ (word)who << 32 ^ at;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* The sum of ranks @from to @to - 1 at a place. */
static word sum(int from, int to, int at)
{
	word all = 0;

	for (; from < to; from++)
		all += value(from, at);
	return all;
}

static void expect(const char *what, int at, word got, word want)
{
	if (got != want)
		give_up(what, at, got, want);
}

/* Memory for so many, holding this rank's values from place 0 on. */
static word *fill(size_t n)
{
	word *v = malloc((n + 1) * sizeof(*v));
	size_t i;

	if (!v)
		give_up("malloc", 0, 0, n);
	for (i = 0; i < n; i++)
		v[i] = value(rank, i);
	return v;
}

static void bcast(int n)
{
	int root, i;

	for (root = 0; root < ranks; root++) {
		word *v = fill(n);

		MPI_Bcast(v, n, MPI_UINT64_T, root, MPI_COMM_WORLD);
		for (i = 0; i < n; i++)
			expect("bcast", i, v[i], value(root, i));
		free(v);
	}
}

static void reduce(int n)
{
	word *v = fill(n), *w = fill(n);
	int root, i;

	for (root = 0; root < ranks; root++) {
		MPI_Reduce(v, w, n, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD);
		for (i = 0; i < n && rank == root; i++)
			expect("reduce", i, w[i], sum(0, ranks, i));
	}
	free(v);
	free(w);
}

static void allreduce(int n)
{
	word *v = fill(n), *w = fill(n), most;
	int i, who;

	MPI_Allreduce(v, w, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		expect("sum of all", i, w[i], sum(0, ranks, i));
	MPI_Allreduce(v, w, n, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	for (i = 0; i < n; i++) {
		most = 0;
		for (who = 0; who < ranks; who++)
			most = value(who, i) > most ? value(who, i) : most;
		expect("greatest of all", i, w[i], most);
	}
	free(v);
	free(w);
}

static void gather(int n)
{
	word *v = fill(n), *w = fill((size_t)n * ranks);
	int i, last = ranks - 1;

	MPI_Gather(v, n, MPI_UINT64_T, w, n, MPI_UINT64_T, last, MPI_COMM_WORLD);
	for (i = 0; i < n * ranks && rank == last; i++)
		expect("gather", i, w[i], value(i / n, i % n));
	MPI_Allgather(v, n, MPI_UINT64_T, w, n, MPI_UINT64_T, MPI_COMM_WORLD);
	for (i = 0; i < n * ranks; i++)
		expect("allgather", i, w[i], value(i / n, i % n));
	free(v);
	free(w);
}

static void scatter(int n)
{
	word *v = fill((size_t)n * ranks), *w = fill(n);
	int i;

	MPI_Scatter(v, n, MPI_UINT64_T, w, n, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		expect("scatter", i, w[i], value(0, rank * n + i));
	MPI_Reduce_scatter_block(v, w, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		expect("reduce_scatter", i, w[i], sum(0, ranks, rank * n + i));
	free(v);
	free(w);
}

static void alltoall(int n)
{
	word *v = fill((size_t)n * ranks), *w = fill((size_t)n * ranks);
	int i;

	MPI_Alltoall(v, n, MPI_UINT64_T, w, n, MPI_UINT64_T, MPI_COMM_WORLD);
	for (i = 0; i < n * ranks; i++)
		expect("alltoall", i, w[i], value(i / n, rank * n + i % n));
	free(v);
	free(w);
}

static void scan(int n)
{
	word *v = fill(n), *w = fill(n);
	int i;

	MPI_Scan(v, w, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		expect("scan", i, w[i], sum(0, rank + 1, i));
	free(v);
	free(w);
}

/* Several at a time, none of which waits for another. */
static void together(int n)
{
	word *v = fill(n), *w = fill(n), *x = fill(n);
	MPI_Request requests[3];
	int i;

	MPI_Iallreduce(v, w, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
	MPI_Ibcast(x, n, MPI_UINT64_T, ranks - 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++) {
		expect("iallreduce", i, w[i], sum(0, ranks, i));
		expect("ibcast", i, x[i], value(ranks - 1, i));
	}
	free(v);
	free(w);
	free(x);
}

/* Messages to the next rank, all sent before one is received: nobody has expected them. */
#define FLOOD 12

static void flood(int n)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, i, k;
	word *v[FLOOD], *w = fill(n);
	MPI_Request requests[FLOOD];
	MPI_Status status;

	for (k = 0; k < FLOOD; k++) {
		v[k] = fill(n);
		for (i = 0; i < n; i++)
			v[k][i] += k;
		MPI_Isend(v[k], n, MPI_UINT64_T, to, k, MPI_COMM_WORLD, &requests[k]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* Not in the order in which they came. */
	for (k = FLOOD - 1; k >= 0; k--) {
		MPI_Recv(w, n, MPI_UINT64_T, from, k, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_UINT64_T, &i);
		expect("messages, count", k, i, n);
		for (i = 0; i < n; i++)
			expect("messages", i, w[i], value(from, i) + k);
	}
	MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
	for (k = 0; k < FLOOD; k++)
		free(v[k]);
	free(w);
}

/* Memory of others: written, read, and counted in by all. */
static void windows(int n)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, i;
	word *v = fill(n), *w = fill(n), *memory, one = 1, before;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)(n + 1) * sizeof(*memory), sizeof(*memory), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &memory, &win);
	memory[n] = 0;
	MPI_Win_fence(0, win);
	MPI_Put(v, n, MPI_UINT64_T, to, 0, n, MPI_UINT64_T, win);
	MPI_Win_fence(0, win);
	for (i = 0; i < n; i++)
		expect("put", i, memory[i], value(from, i));
	MPI_Get(w, n, MPI_UINT64_T, to, 0, n, MPI_UINT64_T, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	for (i = 0; i < n; i++)
		expect("get", i, w[i], value(rank, i));
	MPI_Win_lock_all(0, win);
	for (i = 0; i < 10; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, n, MPI_SUM, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	expect("fetch_and_op", n, memory[n], rank ? 0 : 10 * ranks);
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
	free(v);
	free(w);
}

static const struct {
	const char *name;
	void (*run)(int n);
} operations[] = {
	{ "bcast", bcast },
	{ "reduce", reduce },
	{ "allreduce", allreduce },
	{ "gather, allgather", gather },
	{ "scatter, reduce_scatter", scatter },
	{ "alltoall", alltoall },
	{ "scan", scan },
	{ "iallreduce, ibcast, ibarrier", together },
	{ "unexpected messages", flood },
	{ "windows", windows },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int arg;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (arg = 1; arg < argc; arg++) {
		for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
			round_number++;
			operations[i].run(atoi(argv[arg]));
			MPI_Barrier(MPI_COMM_WORLD);
			if (!rank)
				printf("right: %s, %s elements, %d ranks\n", operations[i].name,
				       argv[arg], ranks);
		}
	}
	MPI_Finalize();
	return 0;
}
