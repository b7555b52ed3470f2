/**
 * Starts the command line of this process: the entry of the bundled program.
 *
 * It keeps compiled code in the cache of the user, where Node supports that (22.1 and newer): the next start then takes
 * half the time. `NODE_DISABLE_COMPILE_CACHE=1` turns that off.
 */

import module from "node:module";
import { homedir } from "node:os";
import path from "node:path";

/** With a function that Node 20 lacks. */
const loader: typeof module & { enableCompileCache?(directory: string): unknown } = module;
const caches = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
loader.enableCompileCache?.(path.join(caches, "quoin", "compiled"));
// Only now, because the cache contains what is loaded from here on.
const { main } = await import("../src/cli/index.ts");
await main();
