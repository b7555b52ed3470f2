/** The command line `quoinctl`. */

export { main } from "./main.ts";
export { run } from "./program.ts";
