/** The options of every command. */

import { Option } from "commander";
import { CONNECTION_OPTIONS, OptionForm, type OptionsOf, option } from "../arguments/index.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../output/index.ts";
import { parseDurationMs } from "../text/index.ts";

export const GLOBAL_OPTIONS = {
  ...CONNECTION_OPTIONS,
  output: new OptionForm<OutputFormat>((flag) =>
    new Option(`-o, ${flag} <FORMAT>`, "how to print results").choices(OUTPUT_FORMATS).default("table"),
  ),
  /** Deadline of each operation, in milliseconds; default: that of the SDK. */
  timeout: option("<DURATION>", "give up after this time, such as 10, 500ms or 1m (default: 5s)", parseDurationMs),
};

/** The options of every command, as given. */
export type GlobalOptions = OptionsOf<typeof GLOBAL_OPTIONS>;
