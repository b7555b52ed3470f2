/** The command line `quoinctl`. */

export { main } from "./main.ts";
