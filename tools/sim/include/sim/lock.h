/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lock - locks, atomics and contexts of one thread
 *
 * A lock that is taken twice, or that is not held where the code says so, ends
 * the simulation.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

typedef struct { bool locked; } spinlock_t;
struct mutex { bool locked; };
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef struct { int counter; } refcount_t;

/* Locks held; true in softirq, false in process context. */
extern unsigned int sim_locks;
extern bool sim_softirq;

/* Called with no lock held. */
void sim_unlocked(void);

static inline bool sim_trylock(bool *locked)
{
	if (*locked)
		return false;
	*locked = true;
	sim_locks++;
	return true;
}

static inline void sim_lock(bool *locked)
{
	sim_assert(sim_trylock(locked));
}

static inline void sim_unlock(bool *locked)
{
	sim_assert(*locked);
	*locked = false;
	if (!--sim_locks)
		sim_unlocked();
}

#define spin_lock_init(l)	((l)->locked = false)
#define spin_lock(l)		sim_lock(&(l)->locked)
#define spin_unlock(l)		sim_unlock(&(l)->locked)
#define spin_lock_bh		spin_lock
#define spin_unlock_bh		spin_unlock
#define spin_trylock_bh(l)	sim_trylock(&(l)->locked)
#define spin_trylock		spin_trylock_bh
#define mutex_init		spin_lock_init
#define mutex_lock		spin_lock
#define mutex_unlock		spin_unlock

#define lockdep_is_held(l)	((l)->locked)
#define lockdep_assert(cond)	sim_assert(cond)
#define lockdep_assert_held(l)	sim_assert((l)->locked)
#define lockdep_assert_in_softirq()	do { } while (0)

#define in_softirq()		(sim_softirq || sim_locks)
#define in_serving_softirq()	sim_softirq
#define in_hardirq()		false
#define irqs_disabled()		false
#define smp_processor_id()	0
#define raw_smp_processor_id()	0
#define local_bh_disable()	do { } while (0)
#define local_bh_enable()	do { } while (0)
#define cond_resched()		do { } while (0)
#define cpu_relax()		do { } while (0)

#define smp_mb			barrier
#define smp_rmb			barrier
#define smp_wmb			barrier
#define smp_mb__before_atomic	barrier
#define smp_mb__after_atomic	barrier
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, v)	((void)(*(p) = (v)))
#define xchg(p, v) \
	({ typeof(*(p)) xchg_old = *(p); *(p) = (v); xchg_old; })
#define cmpxchg(p, old, new) \
	({ typeof(*(p)) cmp_old = *(p); \
	   if (cmp_old == (old)) \
		*(p) = (new); \
	   cmp_old; })

#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)
#define rcu_dereference(p)	(p)
#define rcu_access_pointer(p)	(p)
#define rcu_dereference_protected(p, cond)	(p)

#define this_cpu_add(x, n)	((void)((x) += (n)))
#define this_cpu_inc(x)		((void)(x)++)
#define per_cpu_ptr(p, cpu)	(p)
#define this_cpu_ptr(p)		(p)
#define DEFINE_PER_CPU(type, name)	type name
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

#define ATOMIC_INIT(n)		{ n }
#define atomic_set(a, n)	((void)((a)->counter = (n)))
#define atomic_read(a)		((a)->counter)
#define atomic_inc(a)		((void)(a)->counter++)
#define atomic_dec(a)		((void)(a)->counter--)
#define atomic_add(n, a)	((void)((a)->counter += (n)))
#define atomic_sub(n, a)	((void)((a)->counter -= (n)))
#define atomic_inc_return(a)	(++(a)->counter)
#define atomic_dec_return(a)	(--(a)->counter)
#define atomic_dec_and_test(a)	(!--(a)->counter)

#define atomic_long_t		atomic64_t
#define atomic_long_add		atomic_add
#define atomic_long_sub		atomic_sub
#define atomic_long_read	atomic_read

#define refcount_set(r, n)	((void)((r)->counter = (n)))
#define refcount_read(r)	((r)->counter)
#define refcount_inc(r)		((void)(r)->counter++)

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	return r->counter && r->counter++;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	sim_assert(r->counter > 0);
	return !--r->counter;
}

#endif /* SIM_LOCK_H */
