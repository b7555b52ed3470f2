/** The build of the console. */

export { buildConsole, CONSOLE_PACKAGES } from "./build.ts";
