#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// Other threads may hold any lock at the time of a fork: what follows it calls nothing but the system.

/// Seconds after which a killed process counts as one that can't be ended. A busy machine takes some for hundreds.
enum { patience = 10 };

static volatile sig_atomic_t is_asked;

static void note(int number) {
  if (number == SIGTERM) is_asked = 1;
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(number, &action, NULL);
}

// MARK: The program

_Noreturn static void execute(
    const struct fleetsim_program *program, pid_t guardian, const sigset_t *mask, int trouble) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guardian) _exit(1);
#endif
  // None of our handlers; and what we ignore for ourselves, a server that it starts must not ignore.
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) handle(number, SIG_DFL);
  }
  handle(SIGPIPE, SIG_DFL);
  handle(SIGXFSZ, SIG_DFL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(program->output, 1) >= 0 && dup2(program->errors, 2) >= 0
      && (!program->directory || chdir(program->directory) == 0)) {
    if (nothing > 2) close(nothing);
    execve(program->path, program->arguments, program->environment);
  }
  int code = errno;
  (void)!write(trouble, &code, sizeof code);
  _exit(127);
}

// MARK: Its guardian

/// Closes all descriptors but 0, 1 and 2: an end of a pipe that we kept would never be seen closed.
static void close_others(void) {
#ifdef __linux__
  // close_range, which not every C library has.
  if (syscall(436, 3u, ~0u, 0u) == 0) return;
#endif
  struct rlimit limit;
  int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
  for (int descriptor = 3; descriptor < end; descriptor++) close(descriptor);
}

/// Calls `act` with each child: the program, and whoever lost its own parent. Returns whether they can be listed.
static bool for_each_child(void (*act)(pid_t)) {
#ifdef __linux__
  int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  char text[4096];
  pid_t number = 0;
  for (ssize_t count; (count = read(list, text, sizeof text)) > 0;) {
    for (ssize_t place = 0; place < count; place++) {
      if (text[place] >= '0' && text[place] <= '9') {
        number = number * 10 + (text[place] - '0');
      } else if (number > 0) {
        act(number);
        number = 0;
      }
    }
  }
  close(list);
  return true;
#else
  return false;
#endif
}

static bool is_any_refused, is_any_killed;

static void end_child(pid_t child) {
  *(kill(child, SIGKILL) == 0 ? &is_any_killed : &is_any_refused) = true;
}

static void say(const char *text) { (void)!write(2, text, strlen(text)); }

static void name_child(pid_t child) {
  char digits[16] = "";
  char *first = digits + sizeof digits - 1;
  for (pid_t number = child; number > 0; number /= 10) *--first = (char)('0' + number % 10);
  say("warning: a process that a command started can't be ended, number ");
  say(first);
  say(kill(child, 0) == 0 ? ": it still runs after SIGKILL\n" : ": the system doesn't permit it\n");
}

static time_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/// Ends what is below. Who loses its parent comes to us, so that nobody is left when we have no child.
static void end_all(pid_t program, int *status, const sigset_t *open) {
  time_t start = seconds();
  // Its number is still its own: nobody has waited for it.
  kill(-program, SIGKILL);
  kill(program, SIGKILL);
  for (;;) {
    int ended;
    pid_t child;
    while ((child = waitpid(-1, &ended, WNOHANG)) > 0) {
      if (child == program) *status = ended;
    }
    if (child < 0) return;
    is_any_refused = is_any_killed = false;
    for_each_child(end_child);
    if ((is_any_refused && !is_any_killed) || seconds() - start > patience) {
      if (!for_each_child(name_child)) {
        say("warning: a process that a command started can't be ended: the system doesn't tell its number\n");
      }
      return;
    }
    struct timespec pause = {.tv_nsec = 20000000};
    pselect(0, NULL, NULL, NULL, &pause, open);
  }
}

/// Whether the program has ended; its number stays its own. Orphans that have ended go.
static bool has_ended(pid_t program) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
    if (info.si_pid == program) return true;
    waitpid(info.si_pid, NULL, 0);
    memset(&info, 0, sizeof info);
  }
  return false;
}

_Noreturn static void guard(
    const struct fleetsim_program *program, int owner, int complaints, const sigset_t *mask, int trouble) {
  // Whoever ends our group has to leave us, or nobody would end the tree.
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "guardian");
#endif
  // Who ignores it isn't told of an end.
  handle(SIGCHLD, note);
  pid_t self = getpid();
  pid_t child = fork();
  if (child == 0) execute(program, self, mask, trouble);
  if (child < 0) {
    int code = errno;
    (void)!write(trouble, &code, sizeof code);
    _exit(127);
  }
  setpgid(child, child);
  for (int number = 1; number < NSIG; number++) {
    if (number != SIGCHLD) handle(number, number == SIGTERM ? note : SIG_IGN);
  }
  dup2(complaints, 2);
  dup2(owner, 0);
  close(1);
  close_others();
  sigset_t open;
  sigemptyset(&open);
  while (!is_asked && !has_ended(child)) {
    fd_set watched;
    FD_ZERO(&watched);
    FD_SET(0, &watched);
    if (pselect(1, &watched, NULL, NULL, NULL, &open) > 0) break;
  }
  int status = 0;
  if (program->leaves_others && has_ended(child)) {
    waitpid(child, &status, 0);
  } else {
    end_all(child, &status, &open);
  }
  if (WIFSIGNALED(status)) {
    // As the program ended, but without a second memory dump.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0);
#endif
    handle(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, &open, NULL);
    kill(self, WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

pid_t fleetsim_start(const struct fleetsim_program *program, int owner, int complaints) {
  int ends[2];
#ifdef __linux__
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
#else
  if (pipe(ends) != 0) return -1;
  for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
#endif
  // No handler of ours runs in the guardian.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pid_t guardian = fork();
  int code = errno;
  if (guardian == 0) guard(program, owner, complaints, &mask, ends[1]);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  if (guardian > 0) {
    // Nothing comes when the program has been started: its end is closed then.
    ssize_t count;
    while ((count = read(ends[0], &code, sizeof code)) < 0 && errno == EINTR) {}
    if (count > 0) {
      while (waitpid(guardian, NULL, 0) < 0 && errno == EINTR) {}
      guardian = -1;
    }
  }
  close(ends[0]);
  errno = code;
  return guardian;
}
