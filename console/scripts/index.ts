/** The build of the console. */

export { buildConsole } from "./build.ts";
