/** The option of commands that end what they have started. */

import { option } from "../arguments/index.ts";
import { parseDurationMs } from "../text/index.ts";

/** How long processes that must end may take before they are killed, in milliseconds. */
export const KILL_AFTER_OPTION = option(
  "<DURATION>",
  "for processes that must end: from SIGTERM to SIGKILL",
  parseDurationMs,
).byDefault(10_000, "10s");
