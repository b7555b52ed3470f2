/** The pages of the console. */

export { KeysPage } from "./keys/index.ts";
export { LocksPage } from "./locks/index.ts";
export { OverviewPage } from "./overview/index.ts";
