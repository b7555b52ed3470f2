/** One event log: its properties, its events as they arrive, a form to append, and what can be changed. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { deleteLog, type EventLog } from "../../api/index.ts";
import { Person } from "../../people/index.ts";
import { countText, instantText, sizeText } from "../../text/index.ts";
import { Button, CopyButton, FormDialog, Panel, Properties } from "../../ui/index.ts";
import { AppendForm } from "./append-form.tsx";
import { LogDialog } from "./log-dialog.tsx";
import { LOG_SETTING_FIELDS } from "./log-settings.ts";
import { LogTail } from "./log-tail.tsx";

export interface LogPanelProps {
  readonly log: EventLog;
  readonly isWritable: boolean;
  /** Whether the user may change its settings and delete it. */
  readonly isManageable: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function LogPanel({ log, isWritable, isManageable, onClose, onChanged }: LogPanelProps): JSX.Element {
  const dialog = useSignal<"settings" | "delete" | null>(null);
  const close = (): void => {
    dialog.value = null;
  };
  return (
    <Panel
      label={`Event log ${log.name}`}
      title={<span class="mono">{log.name}</span>}
      tools={<CopyButton text={log.log_id} label="Copy the id of the log" />}
      onClose={onClose}
    >
      <p class="muted mono panel-id">{log.log_id}</p>
      <Properties
        items={[
          ["Events", countText(log.event_count)],
          ["Sequences", `${countText(log.first_sequence)} – ${countText(log.last_sequence)}`],
          ["Size", sizeText(log.size_bytes)],
          ["Created", instantText(Date.parse(log.created_at))],
          ["Created by", <Person userId={log.created_by} />],
          ...LOG_SETTING_FIELDS.map(({ name, title, text }) => [title, settingText(log.settings[name], text)] as const),
        ]}
      />
      {isWritable && isManageable && (
        <div class="actions">
          <Button
            onClick={() => {
              dialog.value = "settings";
            }}
          >
            Settings
          </Button>
          <Button
            kind="danger"
            onClick={() => {
              dialog.value = "delete";
            }}
          >
            Delete
          </Button>
        </div>
      )}
      <LogTail log={log} />
      {isWritable && <AppendForm logId={log.log_id} />}
      {dialog.value === "settings" && (
        <LogDialog namespace={log.namespace} log={log} onDone={onChanged} onClose={close} />
      )}
      {dialog.value === "delete" && (
        <FormDialog
          title="Delete the event log"
          action="Delete"
          isDanger
          confirmation={log.name}
          done={`Log ${log.name} deleted`}
          onSubmit={async () => {
            await deleteLog(log.log_id);
            onChanged();
            onClose();
          }}
          onClose={close}
        >
          <p>This deletes the log with all of its {countText(log.event_count)} events, at once and for good.</p>
        </FormDialog>
      )}
    </Panel>
  );
}

function settingText(value: number | null | undefined, text: (value: number) => string): string {
  return value === null || value === undefined ? "not set" : text(value);
}
