// Starts each program many times, in turn, with posix_spawn, and prints one
// line for each start: program, wall time and processor time in microseconds,
// peak memory in kilobytes.
//
// Round N reads INPUTS/N.json, so that no two starts of a program are for the
// same event. The first WARM rounds only warm the caches.
//
// usage: launch ROUNDS WARM INPUTS PROGRAM [ARGUMENT...] [-- PROGRAM [ARGUMENT...]]...
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static long peak(const struct rusage *u) {
#ifdef __APPLE__
	return u->ru_maxrss / 1024;
#else
	return u->ru_maxrss;
#endif
}

int main(int argc, char **argv) {
	if (argc < 5) {
		fprintf(stderr, "usage: launch ROUNDS WARM INPUTS PROGRAM [ARGUMENT...] [-- PROGRAM [ARGUMENT...]]...\n");
		return 2;
	}
	int rounds = atoi(argv[1]);
	int warm = atoi(argv[2]);
	char **program[64];
	int programs = 0;
	program[programs++] = argv + 4;
	for (int i = 4; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0 && programs < 64) {
			argv[i] = NULL;
			program[programs++] = argv + i + 1;
		}
	}
	for (int r = 0; r < warm + rounds; r++) {
		char input[4096];
		snprintf(input, sizeof input, "%s/%d.json", argv[3], r);
		for (int j = 0; j < programs; j++) {
			posix_spawn_file_actions_t fa;
			posix_spawn_file_actions_init(&fa);
			posix_spawn_file_actions_addopen(&fa, 0, input, O_RDONLY, 0);
			posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
			pid_t pid;
			struct rusage u;
			int status;
			double begin = now();
			int err = posix_spawn(&pid, program[j][0], &fa, NULL, program[j], environ);
			if (err != 0) {
				fprintf(stderr, "%s: %s\n", program[j][0], strerror(err));
				return 1;
			}
			wait4(pid, &status, 0, &u);
			double wall = now() - begin;
			posix_spawn_file_actions_destroy(&fa);
			if (status != 0) {
				fprintf(stderr, "%s: wait status %d\n", program[j][0], status);
				return 1;
			}
			double cpu = u.ru_utime.tv_sec * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_sec * 1e6 + u.ru_stime.tv_usec;
			if (r >= warm) {
				printf("%d %.1f %.1f %ld\n", j, wall, cpu, peak(&u));
			}
		}
	}
	return 0;
}
