/** What other tests use of the golden log: a log that is written step by step, and its script with all kinds of entries. */

export { GoldenLog } from "./golden-log.ts";
export { ANNA, OWNER } from "./identities.ts";
export { writeCluster } from "./script.ts";
