/** How Node runs a member, wherever that is: its flags, and the environment of the process. */

import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Where Node keeps compiled code: a member then starts in half the time, and takes a fifth less memory. An installed
 * package may be read-only, so its programs use the cache of the user.
 */
const COMPILED = import.meta.filename.endsWith(".ts")
  ? fileURLToPath(new URL("../../node_modules/.cache/quoin-compiled", import.meta.url))
  : join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quoin", "compiled");
/**
 * The flags of Node, as in the image: a young generation of at most 24 MiB, and an old one that is collected when it
 * has grown by half. By default, Node would let it grow to four times its live size. No signal opens the debugger, not
 * even before the member listens to signals.
 */
export const NODE_FLAGS: readonly string[] = [
  "--max-semi-space-size=8",
  "--heap-growing-percent=50",
  "--disable-sigusr1",
];
/** As in the image as well: more than two arenas keep freed memory for threads that seldom allocate. */
export const ARENAS = "2";

/** The variables of a member's process. Those that are already set stay as they are. */
export function memberEnvironment(): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: COMPILED, MALLOC_ARENA_MAX: ARENAS, ...process.env };
}
