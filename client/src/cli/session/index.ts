export { GLOBAL_OPTIONS, type GlobalOptions } from "./global-options.ts";
export { Session } from "./session.ts";
