/** From plans to writes. */
export { doStep, isRefusedEviction } from "./step.ts";
export { doUpkeep } from "./upkeep.ts";
export { isStale, Writing, type WritingOptions } from "./writing.ts";
