/** The settings of event logs, as a person enters them. */

import type { LogSettings } from "../../api/index.ts";
import { ValueProblem } from "../../text/index.ts";

export interface LogSettingField {
  /** On the wire. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly min: number;
}

export const LOG_SETTING_FIELDS: readonly LogSettingField[] = [
  {
    name: "retention.max_age_secs",
    label: "Keep events for (seconds)",
    hint: "Empty: the age of an event does not matter.",
    min: 1,
  },
  {
    name: "retention.max_bytes",
    label: "Keep at most (bytes)",
    hint: "The oldest events go first. Empty: the size does not matter.",
    min: 1,
  },
  {
    name: "queue.duplicate_window_secs",
    label: "Remember idempotency keys for (seconds)",
    hint: "Up to 604,800. Empty: the default of the cluster, usually an hour.",
    min: 0,
  },
];

/** The entered settings. An empty field is null, which means not set. Throws a ValueProblem. */
export function settingsOf(entered: ReadonlyMap<string, string>): LogSettings {
  return Object.fromEntries(
    LOG_SETTING_FIELDS.map(({ name, label, min }) => {
      const text = entered.get(name)?.trim() ?? "";
      const value = text === "" ? null : Number(text);
      if (value !== null && (!Number.isInteger(value) || value < min)) {
        throw new ValueProblem(`“${label}” must be a whole number from ${min}, or empty.`);
      }
      return [name, value];
    }),
  );
}
