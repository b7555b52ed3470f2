export { type SoakOptions, soakCommand } from "./options.ts";
export { SoakError } from "./pace/index.ts";
export { runSoak } from "./run.ts";
