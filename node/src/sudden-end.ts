/** The end of a process that cannot end in order. */

/**
 * Ends this process at once, whatever its threads wait for, as by SIGKILL. The first process of a container is one that
 * its own SIGKILL does not reach: the kernel keeps it from processes inside. That one aborts.
 */
export function endAtOnce(): never {
  process.kill(process.pid, "SIGKILL");
  process.abort();
}
