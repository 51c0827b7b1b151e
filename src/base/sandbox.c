// A sandbox for untrusted programs, with two mechanisms of the Linux kernel, by raw system calls
// (neither needs a library or privileges):
//
//   Landlock   restricts which files may be opened: all access is denied, then rules allow some kinds
//              below a folder or for a file
//   seccomp    a filter over system call numbers: refuses sockets, access to other processes,
//              mounting, and ways around either mechanism
//
// Newer Landlock features are used according to the kernel's Landlock version. File descriptors
// that are open already stay usable.
#define _GNU_SOURCE
#include "base/sandbox.h"
#include "base/files.h"

static bool inside; // per process, like the sandbox
bool sandbox_inside(void) { return inside; }

#if defined __linux__ && (defined __x86_64__ || defined __aarch64__)
#define SANDBOXED_SYSTEM 1
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define SANDBOXED_SYSTEM 0
#endif

#if SANDBOXED_SYSTEM
// -- the Landlock interface -----------------------------------------------------------------------
// System call numbers are equal on all machines; older headers lack them.
enum { CALL_CREATE = 444, CALL_ADD = 445, CALL_RESTRICT = 446 };
enum { ASK_VERSION = 1, RULE_BENEATH = 1 };
enum {
  FS_EXECUTE = 1 << 0,
  FS_WRITE_FILE = 1 << 1,
  FS_READ_FILE = 1 << 2,
  FS_READ_DIR = 1 << 3,
  FS_REMOVE_DIR = 1 << 4,
  FS_REMOVE_FILE = 1 << 5,
  FS_MAKE_CHAR = 1 << 6,
  FS_MAKE_DIR = 1 << 7,
  FS_MAKE_REG = 1 << 8,
  FS_FIRST = (1 << 13) - 1, // all of version 1
  FS_REFER = 1 << 13,       // since version 2
  FS_TRUNCATE = 1 << 14,    // since version 3
  FS_DEVICES = 1 << 15,     // since version 5: ioctl on devices
  FS_OF_A_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_DEVICES,
  FS_READ = FS_READ_FILE | FS_READ_DIR,
  FS_RUN = FS_READ | FS_EXECUTE,
  FS_CHANGE = FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |
              FS_TRUNCATE | FS_REFER,
};

typedef struct {
  uint64_t files, net, scoped; // denied unless a rule allows it
} LandlockAttributes;

typedef struct {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed)) LandlockBeneath;

static long landlock_version(void) {
  return syscall(CALL_CREATE, NULL, (size_t)0, (uint32_t)ASK_VERSION);
}

static LandlockAttributes attributes_of(long version) {
  LandlockAttributes all = {.files = FS_FIRST};
  if (version >= 2) all.files |= FS_REFER;
  if (version >= 3) all.files |= FS_TRUNCATE;
  if (version >= 4) all.net = 3; // TCP bind and connect
  if (version >= 5) all.files |= FS_DEVICES;
  if (version >= 6) all.scoped = 3; // abstract sockets of, and signals to, processes outside
  return all;
}

typedef struct {
  int ruleset;
  uint64_t known; // kinds of access that this kernel supports
} Landlock;

// Allows access to a path; a missing path needs no rule. A path that is no folder gets only the
// rights of files.
static bool allow(const Landlock *l, const char *path, uint64_t access) {
  struct stat info;
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return true;
  bool folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  LandlockBeneath rule = {access & l->known & (folder ? UINT64_MAX : FS_OF_A_FILE), fd};
  bool good = syscall(CALL_ADD, l->ruleset, RULE_BENEATH, &rule, 0) == 0;
  int why = errno;
  close(fd);
  errno = why;
  return good;
}

static bool allow_all(const Landlock *l, const char *const *path, uint64_t access) {
  bool good = true;
  while (good && path && *path) good = allow(l, *path++, access);
  return good;
}

// The files that limn, the dynamic loader and a compiler need.
static bool allow_system(const Landlock *l) {
  static const char *const run[] = {"/usr", "/lib", "/lib64", "/bin", "/nix/store", NULL};
  static const char *const read[] = {"/etc/ld.so.cache",
                                     "/etc/ld.so.conf",
                                     "/etc/ld.so.conf.d",
                                     "/etc/alternatives",
                                     "/etc/localtime",
                                     "/etc/ld.so.preload",
                                     "/proc",
                                     "/sys/devices/system/cpu",
                                     "/sys/fs/cgroup",
                                     "/dev/urandom",
                                     "/dev/random",
                                     "/dev/zero",
                                     NULL};
  static const char *const change[] = {"/dev/null", "/dev/tty", NULL};
  return allow_all(l, run, FS_RUN) && allow_all(l, read, FS_READ) &&
         allow_all(l, change, FS_READ_FILE | FS_WRITE_FILE | FS_DEVICES);
}

// For /opt/gcc-14/bin/gcc, allows all of /opt/gcc-14; for a compiler in the root folder, only the
// compiler.
static bool allow_compiler(const Landlock *l, Arena *a, const char *path) {
  char *real = path ? realpath(path, NULL) : NULL;
  if (!real) return true;
  char *own = arena_text(a, real, strlen(real));
  free(real);
  bool good = allow(l, own, FS_RUN);
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
  }
  return good && (!*own || allow(l, own, FS_RUN));
}

// The parent of a writable folder may remove empty folders: the folder of a run that failed to
// start.
static bool allow_changes(const Landlock *l, Arena *a, const char *const *path) {
  bool good = allow_all(l, path, FS_CHANGE);
  for (; good && path && *path; path++)
    good = allow(l, arena_format(a, "%s/..", *path), FS_REMOVE_DIR);
  return good;
}

static const char *landlock_enter(Arena *a, const SandboxRules *r) {
  LandlockAttributes all = attributes_of(landlock_version());
  Landlock l = {(int)syscall(CALL_CREATE, &all, sizeof all, 0), all.files};
  if (l.ruleset < 0) return arena_format(a, "Landlock: %s", os_error(a, errno));
  bool good = allow_system(&l) && allow_compiler(&l, a, r->compiler) &&
              allow_all(&l, r->read, FS_READ) && allow_changes(&l, a, r->write);
  good = good && syscall(CALL_RESTRICT, l.ruleset, 0) == 0;
  int why = errno;
  close(l.ruleset);
  return good ? NULL : arena_format(a, "Landlock: %s", os_error(a, why));
}

// -- the seccomp filter ---------------------------------------------------------------------------
// Refused system calls: network, other processes, system configuration, and ways around the rules.
// Landlock does not cover attributes and owners of files; fchmod stays allowed, for files that are
// open.
static const uint32_t refused_calls[] = {
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4, //
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_perf_event_open,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare, //
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime, //
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_bpf,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_personality,
    SYS_userfaultfd,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_mknodat, //
    SYS_fchownat,
    SYS_fchown,
    SYS_fchmodat, //
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    // system calls with equal numbers on all machines that older headers lack: pidfd_getfd,
    // open_tree, move_mount, fsopen, fsmount, mount_setattr, io_uring (three), fchmodat2,
    // setxattrat
    438,
    428,
    429,
    430,
    432,
    442,
    425,
    426,
    427,
    452,
    463,
#ifdef __x86_64__
    SYS_chown,
    SYS_lchown,
    SYS_chmod,
    SYS_mknod,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};
enum { CALL_CLONE3 = 435, NAMESPACES = 0x7E020000 }; // all CLONE_NEW… flags

#ifdef __x86_64__
static const uint32_t our_machine = AUDIT_ARCH_X86_64;
#else
static const uint32_t our_machine = AUDIT_ARCH_AARCH64;
#endif

#define LOAD(field)                                                                                \
  (struct sock_filter)                                                                             \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define JUMP_IF(how, value, then, otherwise)                                                       \
  (struct sock_filter) BPF_JUMP(BPF_JMP | how | BPF_K, value, then, otherwise)
#define RETURN(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE(code) RETURN(SECCOMP_RET_ERRNO | (code & SECCOMP_RET_DATA))

// clone3 is refused with ENOSYS, because its flags are in memory, which a filter cannot read: the C
// library then uses clone, whose flags are in a register.
static uint32_t filter_make(struct sock_filter *f) {
  uint32_t n = 0;
  f[n++] = LOAD(arch);
  f[n++] = JUMP_IF(BPF_JEQ, our_machine, 1, 0);
  f[n++] = REFUSE(EPERM); // a system call of another architecture
  f[n++] = LOAD(nr);
#ifdef __x86_64__
  f[n++] = JUMP_IF(BPF_JGE, 0x40000000, 0, 1); // x32
  f[n++] = REFUSE(EPERM);
#endif
  f[n++] = JUMP_IF(BPF_JEQ, CALL_CLONE3, 0, 1);
  f[n++] = REFUSE(ENOSYS);
  for (uint32_t i = 0; i < COUNT(refused_calls); i++) {
    f[n++] = JUMP_IF(BPF_JEQ, refused_calls[i], 0, 1);
    f[n++] = REFUSE(EPERM);
  }
  f[n++] = JUMP_IF(BPF_JEQ, SYS_clone, 1, 0);
  f[n++] = RETURN(SECCOMP_RET_ALLOW);
  f[n++] = LOAD(args[0]);
  f[n++] = JUMP_IF(BPF_JSET, NAMESPACES, 0, 1);
  f[n++] = REFUSE(EPERM);
  f[n++] = RETURN(SECCOMP_RET_ALLOW);
  return n;
}

static const char *filter_enter(Arena *a) {
  struct sock_filter code[2 * COUNT(refused_calls) + 32];
  struct sock_fprog program = {.filter = code};
  program.len = (unsigned short)filter_make(code);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return NULL;
  return arena_format(a, "seccomp: %s", os_error(a, errno));
}

static bool has_filters(void) {
  uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// -- both -----------------------------------------------------------------------------------------
const char *sandbox_lacks(void) {
  if (landlock_version() < 1) return "this kernel has no Landlock";
  return has_filters() ? NULL : "this kernel has no seccomp filters";
}

const char *sandbox_enter(Arena *a, const SandboxRules *r) {
  const char *error = sandbox_lacks();
  if (error) return error;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return os_error(a, errno);
  error = landlock_enter(a, r);
  if (!error) error = filter_enter(a);
  inside = !error;
  return error;
}

#else
const char *sandbox_lacks(void) { return "only Linux on x86-64 and aarch64 has one"; }

const char *sandbox_enter(Arena *a, const SandboxRules *r) {
  (void)a, (void)r;
  return sandbox_lacks();
}
#endif
