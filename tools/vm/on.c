// SPDX-License-Identifier: GPL-2.0
/*
 * on: run a command at one end of the topology, from inside a guest.
 *
 *	on [-b] [-t SECONDS] END CMD...	run CMD at END (a or b)
 *	on --wait END			wait until END answers
 *	on --stop END			tell the agent of END to end; the guest then checks
 *					itself and powers off
 *	on --serve			be the agent
 *	on --hold END			make the process that holds END open, a network
 *					namespace known to `ip netns`
 *
 * It is like ssh in what is passed on: standard input, output, errors, exit status, signals; the
 * environment and the working folder too. -b: in the background, with the process id of this `on`
 * on standard output and CMD's output on standard error. -t: with a limit in time as timeout has
 * it, which would be one more program to start.
 *
 * A file /run/lab/END.pid names a process whose network and mount namespaces are that end, here
 * (topology single, and the own end of a pair when it has none of its own: pid 1). Without it the
 * end is the other guest: its agent listens on TCP, in a network namespace "lab" of its own, so
 * that nothing of this shows among the netdevs under test.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* LATE is what timeout says, too. */
enum { PORT = 7777, CHUNK = 16384, LATE = 124 };

/*
 * Every message has a header; a chunk of data waits in a box until its taker is ready, so that no
 * side ever blocks in write().
 */
struct header {
	unsigned char
		type; /* I input, O output, E errors, S signal, X exit status, R request, Q quit */
	unsigned int len; /* bytes that follow; the number itself for S and X */
} __attribute__((packed));

struct box {
	size_t at, len;
	char data[sizeof(struct header) + CHUNK];
};

static void fail(const char *what)
{
	fprintf(stderr, "on: %s: %s\n", what, strerror(errno));
	exit(255);
}

static void enter(const char *path, int kind)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, kind))
		fail(path);
	close(fd);
}

static void pack(struct box *box, int type, const void *data, unsigned int len)
{
	struct header header = {type, len};

	memcpy(box->data, &header, sizeof(header));
	if (data)
		memcpy(box->data + sizeof(header), data, len);
	box->at = 0;
	box->len = sizeof(header) + (data ? len : 0);
}

/* Write what the box holds, as far as it goes. 0: the taker is gone. */
static int drain(int fd, struct box *box)
{
	ssize_t n = send(fd, box->data + box->at, box->len - box->at, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(fd, box->data + box->at, box->len - box->at);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	box->at += n;
	if (box->at == box->len) {
		box->at = 0;
		box->len = 0;
	}
	return 1;
}

static int read_all(int fd, void *data, size_t len)
{
	for (char *p = data; len;) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			return 0;
		p += n;
		len -= n;
	}
	return 1;
}

/* Take one message off the socket; data of I, O and E lands in box. 0: the other side is gone. */
static int take(int sock, struct header *header, struct box *box)
{
	if (!read_all(sock, header, sizeof(*header)))
		return 0;
	if (header->type != 'I' && header->type != 'O' && header->type != 'E')
		return 1;
	if (header->len > CHUNK || !read_all(sock, box->data, header->len))
		return 0;
	box->at = 0;
	box->len = header->len;
	return 1;
}

static int signals_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/*
 * The alarm has two stages: first the command is asked to end, then it is killed. The signal to
 * pass on for the one that has come; *late is the stage.
 */
static int signal_to_pass(int signo, int *late)
{
	if (signo != SIGALRM)
		return signo;
	alarm(5);
	return (*late)++ ? SIGKILL : SIGTERM;
}

/* ---- the agent ---- */

/* Strings, one after the other: working folder, count of arguments, arguments, environment. */
static void run_request(char *text, char *end)
{
	char *words[4096], *cwd = text;
	int count = 0, argc;

	text += strlen(text) + 1;
	argc = atoi(text);
	for (text += strlen(text) + 1; text < end && count < 4094; text += strlen(text) + 1) {
		if (count == argc)
			words[count++] = NULL;
		words[count++] = text;
	}
	words[count] = NULL;
	if (chdir(cwd) && chdir("/"))
		fail(cwd);
	environ = words + argc + 1;
	execvp(words[0], words);
	fprintf(stderr, "on: %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void serve_one(int sock)
{
	int in[2], out[2], err[2], status = 0, gone = 0;
	struct header header;
	struct box to_peer = {0}, to_child = {0};
	char *text;
	pid_t child;

	if (!read_all(sock, &header, sizeof(header)))
		_exit(0);
	if (header.type == 'Q')
		_exit(77);
	text = malloc(header.len + 1);
	if (header.type != 'R' || !text || !read_all(sock, text, header.len) || pipe(in) ||
	    pipe(out) || pipe(err))
		_exit(1);
	text[header.len] = 0;
	child = fork();
	if (!child) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		run_request(text, text + header.len);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);

	for (int ended = 0;;) {
		struct pollfd fds[4] = {
			{to_peer.len ? -1 : out[0], POLLIN},
			{to_peer.len ? -1 : err[0], POLLIN},
			{to_child.len ? in[1] : -1, POLLOUT},
			{sock,
			 POLLRDHUP | (to_peer.len ? POLLOUT : 0) | (to_child.len ? 0 : POLLIN)},
		};
		/*
		 * The end of the child closes no descriptor if it left a daemon behind: look for it
		 * now and then.
		 */
		int n = poll(fds, 4, ended ? 0 : 20);

		if (!ended && waitpid(child, &status, WNOHANG) == child)
			ended = 1;
		else if (ended && !n)
			break;
		for (int i = 0; i < 2; i++) {
			int *fd = i ? &err[0] : &out[0];
			char data[CHUNK];
			ssize_t len;

			if (!fds[i].revents || to_peer.len)
				continue;
			len = read(*fd, data, sizeof(data));
			if (len > 0) {
				pack(&to_peer, i ? 'E' : 'O', data, len);
			} else {
				close(*fd);
				*fd = -1;
			}
		}
		if (fds[2].revents && !drain(in[1], &to_child))
			to_child.len = 0;
		if (fds[3].revents & POLLIN && !to_child.len) {
			if (!take(sock, &header, &to_child)) {
				gone = 1;
			} else if (header.type == 'S') {
				kill(-child, header.len);
			} else if (header.type == 'I' && !header.len) {
				close(in[1]);
				in[1] = -1;
			}
		}
		if (to_peer.len && !drain(sock, &to_peer))
			gone = 1;
		if (gone || fds[3].revents & (POLLRDHUP | POLLHUP | POLLERR)) {
			kill(-child, SIGKILL);
			_exit(0);
		}
		if (ended && out[0] < 0 && err[0] < 0 && !to_peer.len)
			break;
	}
	pack(&to_peer, 'X', NULL,
	     WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	fcntl(sock, F_SETFL, 0);
	if (write(sock, to_peer.data, to_peer.len) < 0)
		_exit(1);
	shutdown(sock, SHUT_RDWR);
	/* What a daemon left behind still says goes nowhere, but must not kill it. */
	for (int i = 0; i < 2; i++) {
		int fd = i ? err[0] : out[0];

		while (fd >= 0 && read(fd, to_peer.data, CHUNK) > 0)
			;
	}
	_exit(0);
}

static int serve(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int one = 1, sock, status;

	/* Only the socket lives in "lab"; commands run where the agent was started. */
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	enter("/run/netns/lab", CLONE_NEWNET);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (setns(home, CLONE_NEWNET))
		fail("setns");
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(sock, (void *)&addr, sizeof(addr)) || listen(sock, 64))
		fail("listen");
	for (;;) {
		struct pollfd fds = {sock, POLLIN};
		int peer;

		poll(&fds, 1, 200);
		while (waitpid(-1, &status, WNOHANG) > 0)
			if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
				return 0;
		if (!fds.revents)
			continue;
		peer = accept4(sock, NULL, NULL, SOCK_CLOEXEC);
		setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (!fork())
			serve_one(peer);
		close(peer);
	}
}

/* ---- the client ---- */

static int try_connect(const char *end)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), one = 1, sock, error = 0;
	socklen_t len = sizeof(error);
	struct pollfd fds;

	enter("/run/netns/lab", CLONE_NEWNET);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (setns(home, CLONE_NEWNET))
		fail("setns");
	close(home);
	inet_aton(*end == 'a' ? "192.168.77.1" : "192.168.77.2", &addr.sin_addr);
	if (connect(sock, (void *)&addr, sizeof(addr)) && errno != EINPROGRESS)
		error = errno;
	fds = (struct pollfd){sock, POLLOUT};
	if (!error && poll(&fds, 1, 3000) == 1)
		getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &len);
	else
		error = ETIMEDOUT;
	if (error) {
		close(sock);
		errno = error;
		return -1;
	}
	fcntl(sock, F_SETFL, 0);
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return sock;
}

static int send_request(int sock, char **argv)
{
	char *text, count[16], cwd[4096], **word;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	struct header header = {'R', 0};

	for (word = argv; *word; word++)
		;
	snprintf(count, sizeof(count), "%d", (int)(word - argv));
	if (!getcwd(cwd, sizeof(cwd)))
		strcpy(cwd, "/");
	fwrite(cwd, strlen(cwd) + 1, 1, stream);
	fwrite(count, strlen(count) + 1, 1, stream);
	for (word = argv; *word; word++)
		fwrite(*word, strlen(*word) + 1, 1, stream);
	for (word = environ; *word; word++)
		fwrite(*word, strlen(*word) + 1, 1, stream);
	fclose(stream);
	header.len = len;
	return write(sock, &header, sizeof(header)) == sizeof(header) &&
	       write(sock, text, len) == (ssize_t)len;
}

static int remote(const char *end, unsigned int limit, char **argv)
{
	int sock = try_connect(end), input = 0, quit = signals_fd(), late = 0;
	struct box to_peer = {0}, from_peer = {0};
	struct header header;

	if (sock < 0 || !send_request(sock, argv))
		fail(end);
	alarm(limit);
	for (;;) {
		struct pollfd fds[3] = {{to_peer.len ? -1 : input, POLLIN},
					{sock, POLLIN | (to_peer.len ? POLLOUT : 0)},
					{quit, POLLIN}};

		poll(fds, 3, -1);
		if (fds[2].revents) {
			struct signalfd_siginfo info;

			/*
			 * Behind input that nobody takes a signal would never arrive: leave, and
			 * the agent kills the command.
			 */
			if (read(quit, &info, sizeof(info)) != sizeof(info) || to_peer.len)
				return late ? LATE : 128 + SIGTERM;
			pack(&to_peer, 'S', NULL, signal_to_pass(info.ssi_signo, &late));
		} else if (fds[0].revents) {
			char data[CHUNK];
			ssize_t len = read(input, data, sizeof(data));

			pack(&to_peer, 'I', data, len > 0 ? len : 0);
			if (len <= 0)
				input = -1;
		}
		if (to_peer.len)
			drain(sock, &to_peer);
		if (!(fds[1].revents & ~POLLOUT))
			continue;
		if (!take(sock, &header, &from_peer)) {
			fprintf(stderr, "on: the other end went away\n");
			return 255;
		}
		if (header.type == 'X')
			return late ? LATE : (int)header.len;
		for (size_t at = 0; at < header.len;) {
			ssize_t n = write(header.type == 'E' ? 2 : 1, from_peer.data + at,
					  header.len - at);

			if (n < 0)
				return 128 + SIGPIPE;
			at += n;
		}
	}
}

/* Wait for the command, with a limit; what comes to us is passed on to its whole process group. */
static int attend(pid_t child, unsigned int limit, int quit)
{
	struct signalfd_siginfo info;
	int status, late = 0;

	alarm(limit);
	while (waitpid(child, &status, WNOHANG) != child) {
		if (read(quit, &info, sizeof(info)) != sizeof(info))
			fail("signals");
		if (info.ssi_signo != SIGCHLD)
			kill(-child, signal_to_pass(info.ssi_signo, &late));
	}
	if (late)
		return LATE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int local(int holder, unsigned int limit, char **argv)
{
	char path[64], *cwd = getcwd(NULL, 0);

	if (holder > 1) {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", holder);
		enter(path, CLONE_NEWNET);
		snprintf(path, sizeof(path), "/proc/%d/ns/mnt", holder);
		enter(path, CLONE_NEWNS);
		if (cwd && chdir(cwd))
			fail(cwd);
	}
	if (limit) {
		sigset_t before;
		pid_t child;
		int quit;

		sigprocmask(SIG_BLOCK, NULL, &before);
		quit = signals_fd();
		child = fork();
		if (child < 0)
			fail("fork");
		/* Both say so, since either may be first. */
		setpgid(child, child);
		if (child)
			return attend(child, limit, quit);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "on: %s: %s\n", argv[0], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

/*
 * /sys shows the netdevs of the namespace it was mounted in, hence a mount namespace for each end.
 * What is mounted elsewhere in the guest still arrives there.
 */
static int hold(const char *end)
{
	static const char *const mounts[][2] = {
		{"sysfs", "/sys"},
		{"cgroup2", "/sys/fs/cgroup"},
		{"debugfs", "/sys/kernel/debug"},
		{"tracefs", "/sys/kernel/tracing"},
		{"configfs", "/sys/kernel/config"},
	};
	char path[64];
	pid_t pid;
	FILE *file;

	snprintf(path, sizeof(path), "/run/netns/%s", end);
	enter(path, CLONE_NEWNET);
	if (mount("none", "/", NULL, MS_REC | MS_SHARED, NULL) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) || umount2("/sys", MNT_DETACH))
		fail("mounts");
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL))
			fail(mounts[i][1]);
	pid = fork();
	if (!pid) {
		setsid();
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "/run/lab/%s.pid", end);
	file = fopen(path, "we");
	return pid < 0 || !file || fprintf(file, "%d\n", pid) < 0 || fclose(file);
}

int main(int argc, char **argv)
{
	struct timespec pause = {0, 50 * 1000 * 1000};
	int background = 0, holder = 0, sock, option;
	unsigned int limit = 0;
	char path[64];
	FILE *file;

	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve();
	if (argc == 3 && !strcmp(argv[1], "--hold"))
		return hold(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--wait")) {
		while ((sock = try_connect(argv[2])) < 0)
			nanosleep(&pause, NULL);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "--stop")) {
		struct header header = {'Q', 0};

		sock = try_connect(argv[2]);
		return sock < 0 || write(sock, &header, sizeof(header)) < 0;
	}
	while ((option = getopt(argc, argv, "+bt:")) != -1) {
		if (option == 'b')
			background = 1;
		else if (option == 't')
			limit = atoi(optarg);
		else
			return 255;
	}
	argv += optind;
	if (argc - optind < 2) {
		fprintf(stderr, "usage: on [-b] [-t SECONDS] a|b CMD...\n");
		return 255;
	}
	if (strcmp(argv[0], "a") && strcmp(argv[0], "b")) {
		fprintf(stderr, "on: no end '%s'\n", argv[0]);
		return 255;
	}
	if (background) {
		pid_t pid = fork();

		if (pid) {
			printf("%d\n", pid);
			return pid < 0;
		}
		setsid();
		dup2(2, 1);
		dup2(open("/dev/null", O_RDONLY), 0);
	}
	snprintf(path, sizeof(path), "/run/lab/%s.pid", argv[0]);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &holder) == 1)
		return local(holder, limit, argv + 1);
	return remote(argv[0], limit, argv + 1);
}
