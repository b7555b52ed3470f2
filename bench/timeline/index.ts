export { type TimelineOptions, timelineCommand } from "./options.ts";
export { TimelineError } from "./put-spans.ts";
export { runTimeline } from "./run.ts";
