// A library for LD_PRELOAD that records the file operations of a process below one folder, and makes chosen ones fail.
//
//   IO_SHIM_ROOT    the folder, an absolute path without symbolic links
//   IO_SHIM_LOG     the log: binary records, appended; absent for no log
//   IO_SHIM_SYNC_MS how long an fsync takes at least
//   IO_SHIM_LAG_MS  how long it takes at least from an operation to its record, for a test of the recorder
//   IO_SHIM_FAULTS  struct shared: the rules and the gate, mapped as shared memory, so that a test changes them at any time
//
// A write is logged after it ended and an fsync both before and after. So a write that the log has before the start of an fsync is
// covered by it. Operations that change names run under one mutex, so that the log has them in their order.
//
// A process that is killed between an operation and its record would leave a log that does not agree with the disk. So a test closes the
// gate first: new operations wait before it, and those that are past it end with their record. A process that exits does the same by itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// Numbers of test/support/io-shim.ts.
enum { CREATED = 1, WROTE, SYNC_BEGAN, SYNC_ENDED, RENAMED, LINKED, UNLINKED, TRUNCATED, MADE_FOLDER, REMOVED_FOLDER, SYNC_FAILED };
enum {
  OP_OPEN = 1, OP_CREATE = 2, OP_WRITE = 4, OP_SYNC = 8, OP_SYNC_FOLDER = 16, OP_RENAME = 32,
  OP_UNLINK = 64, OP_TRUNCATE = 128, OP_ALLOCATE = 256, OP_MKDIR = 512, OP_READ = 1024, OP_LINK = 2048,
};
enum { ACT_FAIL = 0, ACT_SHORT = 1, ACT_HOLD = 2, ACT_KILL = 3 };
enum { RULES = 32, PATTERN = 224, SLOTS = 64 };

struct rule {
  uint32_t operations; // 0: not in use
  uint32_t action;
  int32_t error;
  uint32_t skip;  // calls that pass first
  uint32_t count; // calls that fail then
  uint32_t seen;  // matching calls so far
  uint32_t hit;   // calls that failed or were held so far
  uint32_t unused;
  char pattern[PATTERN]; // of fnmatch, for the path below the root
};

// Of test/support/fault-injection.ts.
struct shared {
  struct rule rules[RULES];
  uint32_t closed; // 1: operations wait
  uint32_t unused;
  struct slot {
    uint32_t process; // 0: not in use
    uint32_t busy;    // operations that began, and whose record is not written yet
  } slots[SLOTS];
};

struct record {
  uint32_t magic, type, process;
  int32_t folder;
  uint64_t inode;
  int64_t offset;
  uint64_t size;
  uint32_t path_bytes, other_bytes, data_bytes, unused;
};

static char root[PATH_MAX];
static size_t root_bytes;
static int log_fd = -1;
static struct rule *rules;
static volatile struct shared *gate;
static volatile struct slot *slot;
static volatile int exiting;
static pthread_t exiting_thread;
static pthread_mutex_t busy_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t names_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rules_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t sync_number;
static long sync_ms, lag_ms;

#define REAL(result, name, ...) \
  static result (*real_##name)(__VA_ARGS__); \
  if (!real_##name) real_##name = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static long raw(long number, long a, long b, long c, long d, long e, long f) {
  REAL(long, syscall, long, ...);
  return real_syscall(number, a, b, c, d, e, f);
}

static void pause_ms(long ms) {
  int error = errno;
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, 0);
  errno = error;
}

// A free slot, or that of a process that ended. The file is locked meanwhile.
static volatile struct slot *take_slot(void) {
  for (int i = 0; i < SLOTS; i++) {
    volatile struct slot *one = &gate->slots[i];
    if (one->process != 0 && (kill(one->process, 0) == 0 || errno != ESRCH)) continue;
    one->busy = 0;
    one->process = getpid();
    return one;
  }
  fprintf(stderr, "io-shim: too many processes\n");
  abort();
}

// The mutex is a memory barrier, too: the count is visible before the gate is looked at.
static void add_busy(int change) {
  pthread_mutex_lock(&busy_mutex);
  slot->busy += change;
  pthread_mutex_unlock(&busy_mutex);
}

static int is_exempt(void) {
  return !slot || (exiting && pthread_equal(exiting_thread, pthread_self()));
}

// Before an operation that is recorded.
static void enter(void) {
  if (is_exempt()) return;
  for (;;) {
    add_busy(1);
    if (!gate->closed && !exiting) return;
    add_busy(-1);
    pause_ms(1);
  }
}

// After its record.
static void leave(void) {
  if (!is_exempt()) add_busy(-1);
}

// Other threads stop at the gate. This one passes, because nobody could open it again.
__attribute__((destructor)) static void finish(void) {
  if (!slot) return;
  exiting_thread = pthread_self();
  exiting = 1;
  for (int i = 0; i < 10000; i++) {
    pthread_mutex_lock(&busy_mutex);
    uint32_t busy = slot->busy;
    pthread_mutex_unlock(&busy_mutex);
    if (busy == 0) return;
    pause_ms(1);
  }
}

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("IO_SHIM_ROOT"), *log = getenv("IO_SHIM_LOG"), *faults = getenv("IO_SHIM_FAULTS");
  if (!folder) return;
  if (getenv("IO_SHIM_SYNC_MS")) sync_ms = atol(getenv("IO_SHIM_SYNC_MS"));
  if (getenv("IO_SHIM_LAG_MS")) lag_ms = atol(getenv("IO_SHIM_LAG_MS"));
  snprintf(root, sizeof root, "%s", folder);
  if (log) {
    int fd = raw(SYS_openat, AT_FDCWD, (long)log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600, 0, 0);
    log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 300);
    if (log_fd < 0) log_fd = fd;
    else raw(SYS_close, fd, 0, 0, 0, 0, 0);
  }
  if (faults) {
    int fd = raw(SYS_openat, AT_FDCWD, (long)faults, O_RDWR | O_CLOEXEC, 0, 0, 0);
    void *mapped = mmap(0, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
      gate = mapped;
      rules = ((struct shared *)mapped)->rules;
      flock(fd, LOCK_EX);
      slot = take_slot();
      // Explicitly: the mapping keeps the open file, and with it the lock.
      flock(fd, LOCK_UN);
    }
    raw(SYS_close, fd, 0, 0, 0, 0, 0);
  }
  root_bytes = strlen(root);
}

// The path below the root, or null.
static const char *below(const char *path) {
  if (root_bytes == 0 || strncmp(path, root, root_bytes) != 0) return 0;
  if (path[root_bytes] == 0) return path + root_bytes;
  return path[root_bytes] == '/' ? path + root_bytes + 1 : 0;
}

// Makes a path absolute, and returns the part below the root, or null.
static const char *resolve(int folder, const char *path, char *to) {
  if (root_bytes == 0 || !path) return 0;
  if (path[0] == '/') {
    snprintf(to, PATH_MAX, "%s", path);
  } else {
    char link[64];
    ssize_t n;
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    n = readlink(link, to, PATH_MAX - 2);
    if (n < 0) return 0;
    snprintf(to + n, PATH_MAX - n, "/%s", path);
  }
  size_t n = strlen(to);
  while (n > 1 && to[n - 1] == '/') to[--n] = 0;
  return below(to);
}

// The path of a regular file or folder that is open below the root, or null.
static const char *path_of(int fd, struct stat *st, char *to) {
  char link[64];
  int error = errno;
  const char *path = 0;
  if (root_bytes != 0 && fd != log_fd && fstat(fd, st) == 0 && (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, to, PATH_MAX - 1);
    if (n > 0) {
      to[n] = 0;
      path = below(to);
    }
  }
  errno = error;
  return path;
}

static void record_data(struct record r, const char *path, const char *other, const struct iovec *data, int parts, size_t bytes) {
  if (log_fd < 0) return;
  int error = errno;
  if (lag_ms > 0 && r.type != SYNC_BEGAN && r.type != SYNC_ENDED) pause_ms(lag_ms);
  r.magic = 0x10ca2e11;
  r.process = getpid();
  r.path_bytes = path ? strlen(path) : 0;
  r.other_bytes = other ? strlen(other) : 0;
  r.data_bytes = bytes;
  struct iovec iov[3 + 1024];
  int n = 0;
  iov[n++] = (struct iovec){&r, sizeof r};
  if (path) iov[n++] = (struct iovec){(void *)path, r.path_bytes};
  if (other) iov[n++] = (struct iovec){(void *)other, r.other_bytes};
  size_t left = bytes;
  for (int i = 0; i < parts && left > 0 && n < 1024; i++) {
    size_t take = data[i].iov_len < left ? data[i].iov_len : left;
    iov[n++] = (struct iovec){data[i].iov_base, take};
    left -= take;
  }
  size_t whole = sizeof r + r.path_bytes + r.other_bytes + bytes;
  if (raw(SYS_writev, log_fd, (long)iov, n, 0, 0, 0) != (long)whole) {
    fprintf(stderr, "io-shim: the log could not be written\n");
    abort();
  }
  errno = error;
}

static void note(int type, uint64_t inode, const char *path, const char *other) {
  record_data((struct record){.type = type, .inode = inode}, path, other, 0, 0, 0);
}

static int is_active(struct rule *rule, uint32_t operations) {
  return (rule->operations & operations) != 0;
}

static int matches(struct rule *rule, uint32_t operations, const char *path, const char *other) {
  if (!is_active(rule, operations)) return 0;
  if (path && fnmatch(rule->pattern, path, 0) == 0) return 1;
  return other && fnmatch(rule->pattern, other, 0) == 0;
}

// Applies the rules to a call: 0 to go on, -1 with errno to fail, 1 to write less than asked.
static int fault(uint32_t operations, const char *path, const char *other) {
  if (!rules || (!path && !other)) return 0;
  int outcome = 0, error = errno;
  for (int i = 0; i < RULES && outcome == 0; i++) {
    struct rule *rule = &rules[i];
    if (!matches(rule, operations, path, other)) continue;
    pthread_mutex_lock(&rules_mutex);
    uint32_t seen = rule->seen++;
    int hits = seen >= rule->skip && seen - rule->skip < rule->count;
    if (hits) rule->hit++;
    pthread_mutex_unlock(&rules_mutex);
    if (!hits) continue;
    if (rule->action == ACT_KILL) kill(getpid(), SIGKILL);
    if (rule->action == ACT_SHORT) outcome = 1;
    if (rule->action == ACT_FAIL) {
      outcome = -1;
      error = rule->error;
    }
    // Until the test removes the rule.
    while (rule->action == ACT_HOLD && is_active(rule, operations)) {
      pause_ms(1);
    }
  }
  errno = error;
  return outcome;
}

static int has_rule(uint32_t operations) {
  if (!rules) return 0;
  for (int i = 0; i < RULES; i++)
    if (is_active(&rules[i], operations)) return 1;
  return 0;
}

// Writing.

static void wrote(int fd, struct stat *st, const char *path, int64_t offset, const struct iovec *data, int parts, ssize_t bytes) {
  if (bytes <= 0 || log_fd < 0) return;
  if (offset < 0) {
    int error = errno;
    offset = lseek(fd, 0, SEEK_CUR) - bytes;
    errno = error;
  }
  // A descriptor with O_SYNC or O_DSYNC makes a write durable by itself.
  int synced = (fcntl(fd, F_GETFL) & (O_SYNC | O_DSYNC)) != 0;
  struct record r = {.type = WROTE, .inode = st->st_ino, .offset = offset, .size = synced};
  record_data(r, path, 0, data, parts, bytes);
}

#define AROUND_WRITE(fd, offset, data, parts, asked, less, whole) \
  char name[PATH_MAX]; \
  struct stat st; \
  const char *path = path_of(fd, &st, name); \
  if (!path) return whole; \
  int outcome = fault(OP_WRITE, path, 0); \
  if (outcome < 0) return -1; \
  enter(); \
  ssize_t written = outcome == 1 && (asked) > 1 ? less : whole; \
  wrote(fd, &st, path, offset, data, parts, written); \
  leave(); \
  return written

ssize_t write(int fd, const void *bytes, size_t n) {
  REAL(ssize_t, write, int, const void *, size_t);
  struct iovec data = {(void *)bytes, n};
  AROUND_WRITE(fd, -1, &data, 1, n, real_write(fd, bytes, n / 2), real_write(fd, bytes, n));
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t offset) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  struct iovec data = {(void *)bytes, n};
  AROUND_WRITE(fd, offset, &data, 1, n, real_pwrite64(fd, bytes, n / 2, offset), real_pwrite64(fd, bytes, n, offset));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset) {
  return pwrite64(fd, bytes, n, offset);
}

ssize_t writev(int fd, const struct iovec *data, int parts) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  struct iovec half = parts > 0 ? (struct iovec){data[0].iov_base, (data[0].iov_len + 1) / 2} : (struct iovec){0, 0};
  AROUND_WRITE(fd, -1, data, parts, half.iov_len, real_writev(fd, &half, 1), real_writev(fd, data, parts));
}

ssize_t pwritev64(int fd, const struct iovec *data, int parts, off64_t offset) {
  REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t);
  struct iovec half = parts > 0 ? (struct iovec){data[0].iov_base, (data[0].iov_len + 1) / 2} : (struct iovec){0, 0};
  AROUND_WRITE(fd, offset, data, parts, half.iov_len, real_pwritev64(fd, &half, 1, offset), real_pwritev64(fd, data, parts, offset));
}

ssize_t pwritev(int fd, const struct iovec *data, int parts, off_t offset) {
  return pwritev64(fd, data, parts, offset);
}

// Bytes that the kernel copied into a file are read back for the log.
static void copied(int fd, int64_t offset, ssize_t bytes) {
  char name[PATH_MAX];
  struct stat st;
  const char *path = path_of(fd, &st, name);
  if (!path || bytes <= 0 || log_fd < 0) return;
  int error = errno;
  if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - bytes;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int reading = raw(SYS_openat, AT_FDCWD, (long)link, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  char *copy = malloc(bytes);
  if (reading < 0 || !copy || pread(reading, copy, bytes, offset) != bytes) abort();
  raw(SYS_close, reading, 0, 0, 0, 0, 0);
  struct iovec data = {copy, bytes};
  record_data((struct record){.type = WROTE, .inode = st.st_ino, .offset = offset}, path, 0, &data, 1, bytes);
  free(copy);
  errno = error;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t n) {
  REAL(ssize_t, sendfile64, int, int, off64_t *, size_t);
  char name[PATH_MAX];
  struct stat st;
  const char *path = path_of(to, &st, name);
  if (path && fault(OP_WRITE, path, 0) < 0) return -1;
  enter();
  ssize_t written = real_sendfile64(to, from, offset, n);
  if (path) copied(to, -1, written);
  leave();
  return written;
}

ssize_t sendfile(int to, int from, off_t *offset, size_t n) {
  return sendfile64(to, from, offset, n);
}

// Node calls some system calls by number: close, which is of no interest here, statx, and copy_file_range.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_copy_file_range) {
    char name[PATH_MAX];
    struct stat st;
    const char *path = path_of(a[2], &st, name);
    if (path && fault(OP_WRITE, path, 0) < 0) return -1;
    int64_t offset = a[3] ? *(int64_t *)a[3] : -1;
    enter();
    long written = raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (path) copied(a[2], offset, written);
    leave();
    return written;
  }
  return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// Syncing.

static int around_sync(int fd, int (*real)(int)) {
  char name[PATH_MAX];
  struct stat st;
  const char *path = path_of(fd, &st, name);
  if (!path) return real(fd);
  struct record r = {.type = SYNC_BEGAN, .inode = st.st_ino, .folder = S_ISDIR(st.st_mode)};
  pthread_mutex_lock(&names_mutex);
  r.offset = ++sync_number;
  record_data(r, path, 0, 0, 0, 0);
  pthread_mutex_unlock(&names_mutex);
  if (fault(r.folder ? OP_SYNC_FOLDER : OP_SYNC, path, 0) < 0) {
    r.type = SYNC_FAILED;
    record_data(r, path, 0, 0, 0, 0);
    return -1;
  }
  if (sync_ms > 0) pause_ms(sync_ms);
  int result = real(fd);
  r.type = SYNC_ENDED;
  if (result == 0) record_data(r, path, 0, 0, 0, 0);
  return result;
}

int fsync(int fd) {
  REAL(int, fsync, int);
  return around_sync(fd, real_fsync);
}

int fdatasync(int fd) {
  REAL(int, fdatasync, int);
  return around_sync(fd, real_fdatasync);
}

// Opening.

static int around_open(int folder, const char *given, int flags, mode_t mode) {
  char name[PATH_MAX];
  const char *path = resolve(folder, given, name);
  if (!path || (flags & O_PATH)) return raw(SYS_openat, folder, (long)given, flags, mode, 0, 0);
  if (fault(OP_OPEN | (flags & O_CREAT ? OP_CREATE : 0), path, 0) < 0) return -1;
  if (!(flags & (O_CREAT | O_TRUNC))) return raw(SYS_openat, folder, (long)given, flags, mode, 0, 0);
  enter();
  pthread_mutex_lock(&names_mutex);
  struct stat before, after;
  int error = errno;
  int existed = stat(name, &before) == 0;
  errno = error;
  int fd = raw(SYS_openat, folder, (long)given, flags, mode, 0, 0);
  if (fd >= 0 && fstat(fd, &after) == 0) {
    if (!existed) note(CREATED, after.st_ino, path, 0);
    else if ((flags & O_TRUNC) && before.st_size > 0) note(TRUNCATED, after.st_ino, path, 0);
  }
  pthread_mutex_unlock(&names_mutex);
  leave();
  return fd;
}

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, int); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return around_open(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return around_open(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return around_open(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return around_open(folder, path, flags, mode);
}

// Reading.

static int fails_to_read(int fd) {
  char name[PATH_MAX];
  struct stat st;
  if (!has_rule(OP_READ)) return 0;
  return fault(OP_READ, path_of(fd, &st, name), 0) < 0;
}

ssize_t read(int fd, void *bytes, size_t n) {
  REAL(ssize_t, read, int, void *, size_t);
  return fails_to_read(fd) ? -1 : real_read(fd, bytes, n);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t offset) {
  REAL(ssize_t, pread64, int, void *, size_t, off64_t);
  return fails_to_read(fd) ? -1 : real_pread64(fd, bytes, n, offset);
}

// Names and lengths.

static int around_rename(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  char from_name[PATH_MAX], to_name[PATH_MAX];
  const char *source = resolve(from_folder, from, from_name), *target = resolve(to_folder, to, to_name);
  if ((source || target) && fault(OP_RENAME, source, target) < 0) return -1;
  enter();
  pthread_mutex_lock(&names_mutex);
  int result = raw(SYS_renameat2, from_folder, (long)from, to_folder, (long)to, flags, 0);
  struct stat st = {0};
  if (result == 0 && (source || target)) {
    stat(to_name, &st);
    // An empty path is one outside of the root.
    note(RENAMED, st.st_ino, source ? source : "", target ? target : "");
  }
  pthread_mutex_unlock(&names_mutex);
  leave();
  return result;
}

int rename(const char *from, const char *to) {
  return around_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return around_rename(from_folder, from, to_folder, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  return around_rename(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  char from_name[PATH_MAX], to_name[PATH_MAX];
  const char *source = resolve(AT_FDCWD, from, from_name), *target = resolve(AT_FDCWD, to, to_name);
  if (!target) return real_link(from, to);
  if (fault(OP_LINK, source, target) < 0) return -1;
  enter();
  pthread_mutex_lock(&names_mutex);
  int result = real_link(from, to);
  struct stat st;
  if (result == 0 && stat(to_name, &st) == 0) note(LINKED, st.st_ino, source ? source : "", target);
  pthread_mutex_unlock(&names_mutex);
  leave();
  return result;
}

static int around_unlink(int folder, const char *given, int flags) {
  char name[PATH_MAX];
  const char *path = resolve(folder, given, name);
  if (!path) return raw(SYS_unlinkat, folder, (long)given, flags, 0, 0, 0);
  if (fault(OP_UNLINK, path, 0) < 0) return -1;
  enter();
  pthread_mutex_lock(&names_mutex);
  int result = raw(SYS_unlinkat, folder, (long)given, flags, 0, 0, 0);
  if (result == 0) note(flags & AT_REMOVEDIR ? REMOVED_FOLDER : UNLINKED, 0, path, 0);
  pthread_mutex_unlock(&names_mutex);
  leave();
  return result;
}

int unlink(const char *path) {
  return around_unlink(AT_FDCWD, path, 0);
}

int unlinkat(int folder, const char *path, int flags) {
  return around_unlink(folder, path, flags);
}

int rmdir(const char *path) {
  return around_unlink(AT_FDCWD, path, AT_REMOVEDIR);
}

int remove(const char *path) {
  struct stat st;
  return around_unlink(AT_FDCWD, path, lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

static int around_mkdir(int folder, const char *given, mode_t mode) {
  char name[PATH_MAX];
  const char *path = resolve(folder, given, name);
  if (!path) return raw(SYS_mkdirat, folder, (long)given, mode, 0, 0, 0);
  if (fault(OP_MKDIR, path, 0) < 0) return -1;
  enter();
  pthread_mutex_lock(&names_mutex);
  int result = raw(SYS_mkdirat, folder, (long)given, mode, 0, 0, 0);
  struct stat st;
  if (result == 0 && stat(name, &st) == 0) note(MADE_FOLDER, st.st_ino, path, 0);
  pthread_mutex_unlock(&names_mutex);
  leave();
  return result;
}

int mkdir(const char *path, mode_t mode) {
  return around_mkdir(AT_FDCWD, path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  return around_mkdir(folder, path, mode);
}

char *mkdtemp(char *pattern) {
  REAL(char *, mkdtemp, char *);
  char name[PATH_MAX];
  enter();
  pthread_mutex_lock(&names_mutex);
  char *made = real_mkdtemp(pattern);
  const char *path = made ? resolve(AT_FDCWD, made, name) : 0;
  struct stat st;
  if (path && stat(name, &st) == 0) note(MADE_FOLDER, st.st_ino, path, 0);
  pthread_mutex_unlock(&names_mutex);
  leave();
  return made;
}

int ftruncate64(int fd, off64_t size) {
  REAL(int, ftruncate64, int, off64_t);
  char name[PATH_MAX];
  struct stat st;
  const char *path = path_of(fd, &st, name);
  if (!path) return real_ftruncate64(fd, size);
  if (fault(OP_TRUNCATE, path, 0) < 0) return -1;
  enter();
  int result = real_ftruncate64(fd, size);
  if (result == 0) record_data((struct record){.type = TRUNCATED, .inode = st.st_ino, .size = size}, path, 0, 0, 0, 0);
  leave();
  return result;
}

int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}

int truncate64(const char *given, off64_t size) {
  REAL(int, truncate64, const char *, off64_t);
  char name[PATH_MAX];
  const char *path = resolve(AT_FDCWD, given, name);
  if (path && fault(OP_TRUNCATE, path, 0) < 0) return -1;
  enter();
  int result = real_truncate64(given, size);
  struct stat st;
  if (path && result == 0 && stat(name, &st) == 0)
    record_data((struct record){.type = TRUNCATED, .inode = st.st_ino, .size = size}, path, 0, 0, 0, 0);
  leave();
  return result;
}

int truncate(const char *path, off_t size) {
  return truncate64(path, size);
}

// Space is reserved by extending the file, the only case there is.
static int around_allocate(int fd, off64_t offset, off64_t bytes, int (*real)(int, off64_t, off64_t)) {
  char name[PATH_MAX];
  struct stat st;
  const char *path = path_of(fd, &st, name);
  if (path && fault(OP_ALLOCATE, path, 0) < 0) return errno;
  enter();
  int result = real(fd, offset, bytes);
  if (path && result == 0 && offset + bytes > st.st_size)
    record_data((struct record){.type = TRUNCATED, .inode = st.st_ino, .size = offset + bytes}, path, 0, 0, 0, 0);
  leave();
  return result;
}

int posix_fallocate64(int fd, off64_t offset, off64_t bytes) {
  REAL(int, posix_fallocate64, int, off64_t, off64_t);
  return around_allocate(fd, offset, bytes, real_posix_fallocate64);
}

int posix_fallocate(int fd, off_t offset, off_t bytes) {
  return posix_fallocate64(fd, offset, bytes);
}
