/**
 * A command that runs while a lock is held, with the hold in its environment. When the hold is lost, the command and the
 * processes that it has started are terminated. After a signal to end, all of them have ended before the lock is released.
 */

import type { LockHandle } from "../../index.ts";
import { type CommandRun, runCommand } from "../running/index.ts";
import type { Terminal } from "../terminal/index.ts";

/**
 * Runs a command while a lock is held.
 *
 * @returns its exit code, or the code that shells use if it has none.
 */
export function runWithLock(
  terminal: Terminal,
  { namespace, name, token, owner, signal }: LockHandle,
  { words, killAfterMs }: Pick<CommandRun, "words" | "killAfterMs">,
): Promise<number> {
  return runCommand(terminal, {
    words,
    killAfterMs,
    variables: {
      QUOIN_NAMESPACE: namespace,
      QUOIN_LOCK: name,
      QUOIN_FENCING_TOKEN: String(token),
      QUOIN_LOCK_OWNER: owner,
    },
    ending: { signal, reason: "the lock is lost, and the command is terminated" },
  });
}
