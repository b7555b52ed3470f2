/** Creates an event log, or changes the settings of one. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { createLog, type EventLog, updateLog } from "../../api/index.ts";
import { FormDialog, TextField } from "../../ui/index.ts";
import { LOG_SETTING_FIELDS, settingsOf } from "./log-settings.ts";

export interface LogDialogProps {
  readonly namespace: string;
  /** The log to change; null = create one. */
  readonly log: EventLog | null;
  readonly onDone: (log: EventLog) => void;
  readonly onClose: () => void;
}

export function LogDialog({ namespace, log, onDone, onClose }: LogDialogProps): JSX.Element {
  const name = useSignal(log?.name ?? "");
  const entered = useSignal<ReadonlyMap<string, string>>(
    new Map(Object.entries(log?.settings ?? {}).map(([setting, value]) => [setting, value === null ? "" : `${value}`])),
  );
  return (
    <FormDialog
      title={log === null ? "New event log" : `Settings of ${log.name}`}
      action={log === null ? "Create" : "Save"}
      done={log === null ? `Log ${name.value} created` : "Settings saved"}
      onClose={onClose}
      onSubmit={async () => {
        const settings = settingsOf(entered.value);
        onDone(await (log === null ? createLog(namespace, name.value, settings) : updateLog(log.log_id, settings)));
      }}
    >
      {log === null && (
        <TextField
          label="Name"
          isRequired
          hasFocus
          isMonospaced
          hint="Unique among the logs of the namespace."
          value={name}
        />
      )}
      {LOG_SETTING_FIELDS.map(({ name: setting, label, hint, min }) => (
        <TextField
          key={setting}
          label={label}
          hint={hint}
          type="number"
          min={min}
          value={entered.value.get(setting) ?? ""}
          onInput={(value) => {
            entered.value = new Map(entered.value).set(setting, value);
          }}
        />
      ))}
    </FormDialog>
  );
}
