/** The settings of event logs, as a person enters them. */

import type { LogSettings } from "../../api/index.ts";
import { durationText, sizeText, ValueProblem } from "../../text/index.ts";

export interface LogSettingField {
  /** On the wire. */
  readonly name: string;
  readonly label: string;
  /** A shorter label, where the value is only shown. */
  readonly title: string;
  /** Writes a value for people. */
  readonly text: (value: number) => string;
  readonly hint: string;
  readonly min: number;
}

const SECOND_MS = 1_000;

export const LOG_SETTING_FIELDS: readonly LogSettingField[] = [
  {
    name: "retention.max_age_secs",
    label: "Keep events for (seconds)",
    title: "Keeps for",
    text: secondsText,
    hint: "Empty: the age of an event does not matter.",
    min: 1,
  },
  {
    name: "retention.max_bytes",
    label: "Keep at most (bytes)",
    title: "Keeps at most",
    text: sizeText,
    hint: "The oldest events go first. Empty: the size does not matter.",
    min: 1,
  },
  {
    name: "queue.duplicate_window_secs",
    label: "Remember idempotency keys for (seconds)",
    title: "Remembers keys",
    text: secondsText,
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

function secondsText(seconds: number): string {
  return durationText(seconds * SECOND_MS);
}
