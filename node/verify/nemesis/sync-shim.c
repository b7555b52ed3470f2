/*
 * Intercepts the two calls that make a member's writes durable, fsync and fdatasync, and lets them pass, wait or fail.
 * A file of 12 bytes, which QUOIN_SYNC_CONTROL names, controls it: mode, number of calls that had to wait, number of
 * calls that failed, each a 32-bit number in machine byte order.
 *
 * Without that file, or with the variable unset, all calls pass.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PASS = 0, WAIT = 1, FAIL = 2 };
/* Interval at which a waiting call checks whether it may continue. */
enum { LOOK_MICROSECONDS = 2000 };

struct control {
  unsigned mode;
  unsigned waited;
  unsigned failed;
};

static struct control *control;

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("QUOIN_SYNC_CONTROL");
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  void *page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  control = page == MAP_FAILED ? NULL : page;
  close(file);
}

static unsigned mode(void) { return __atomic_load_n(&control->mode, __ATOMIC_SEQ_CST); }

/* Whether the call fails without reaching the disk. */
static int is_refused(void) {
  if (control == NULL) {
    return 0;
  }
  if (mode() == WAIT) {
    __atomic_fetch_add(&control->waited, 1, __ATOMIC_SEQ_CST);
    while (mode() == WAIT) {
      usleep(LOOK_MICROSECONDS);
    }
  }
  if (mode() != FAIL) {
    return 0;
  }
  __atomic_fetch_add(&control->failed, 1, __ATOMIC_SEQ_CST);
  errno = EIO;
  return 1;
}

int fsync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return is_refused() ? -1 : real(file);
}

int fdatasync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  return is_refused() ? -1 : real(file);
}
