export { type CompleteCommand, command, commandGroup, firstCommand } from "./command-form.ts";
export { GLOBAL_OPTIONS, type GlobalOptions } from "./global-options.ts";
export { itemsOf, PAGE_SIZE_MAX } from "./pages.ts";
export { Session } from "./session.ts";
