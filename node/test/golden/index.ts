/**
 * What other tests use of the golden log: a log that is written step by step, its script with all kinds of entries, and
 * the directories of released versions.
 */

export { unpackDirectory } from "./directory-archive.ts";
export { GoldenLog } from "./golden-log.ts";
export { ANNA, OWNER } from "./identities.ts";
export { writeCluster } from "./script.ts";
export { OPENING, openMember } from "./stopped-member.ts";
export { DIRECTORY_FILE, goldenVersions } from "./versions.ts";
