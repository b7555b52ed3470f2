export { type CommandRun, runCommand } from "./command-run.ts";
export {
  EVENT_OPTIONS,
  type EventForms,
  type Events,
  eventUsage,
  handleEvents,
  wordsBehind,
} from "./event-output.ts";
export { holderLabel } from "./holder-label.ts";
export { KILL_AFTER_OPTION } from "./kill-after-option.ts";
