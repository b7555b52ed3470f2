/** The end of a process that cannot end in order. */

/**
 * Ends this process at once, like SIGKILL, even if its threads are stuck. The first process of a container cannot kill
 * itself with SIGKILL, because the kernel protects it from signals of its own container. That process aborts instead.
 */
export function abortProcess(): never {
  process.kill(process.pid, "SIGKILL");
  process.abort();
}
