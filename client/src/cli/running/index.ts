export { type CommandRun, runCommand } from "./command-run.ts";
export {
  addEventOptions,
  type EventForms,
  type EventOptions,
  type Events,
  handleEvents,
  wordsBehind,
} from "./event-output.ts";
export { holderLabel } from "./holder-label.ts";
