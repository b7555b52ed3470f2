/** The runtimes in which the packages of the SDK must work. */

export { installRuntimes } from "./runtimes.ts";
