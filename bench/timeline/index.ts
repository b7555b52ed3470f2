export { type TimelineOptions, timelineCommand } from "./options.ts";
export { runTimeline } from "./run.ts";
export { TimelineError } from "./stamp-log.ts";
