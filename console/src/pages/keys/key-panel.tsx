/**
 * One key: its value, its properties, and its history. It stays current by the stream of the key's changes. While a
 * person edits the value, it does not change under their hands: the write compares the revision that was shown.
 */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback } from "preact/hooks";
import { concernsKey, deleteKey, getKey, keyStreamPath, type ServerSentEvent } from "../../api/index.ts";
import { useEventStream, usePolled } from "../../live/index.ts";
import { Button, Choice, CopyButton, FormDialog, Panel, Problem } from "../../ui/index.ts";
import { KeyHistory } from "./key-history.tsx";
import { KeyProperties } from "./key-properties.tsx";
import { KeyValueView } from "./key-value-view.tsx";
import { ValueEditor } from "./value-editor.tsx";

export interface KeyPanelProps {
  readonly namespace: string;
  readonly name: string;
  readonly isWritable: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

type View = "value" | "history";

/** If the stream of changes is interrupted, this still shows them. */
const POLL_MS = 10_000;

export function KeyPanel({ namespace, name, isWritable, onClose, onChanged }: KeyPanelProps): JSX.Element {
  const view = useSignal<View>("value");
  const isEditing = useSignal(false);
  const isDeleting = useSignal(false);
  const { loaded, refresh, refreshSoon } = usePolled(
    (signal, isBackground) => getKey(namespace, name, { signal, isBackground }),
    POLL_MS,
    [namespace, name],
  );
  const { state } = useEventStream(
    keyStreamPath(namespace, name),
    useCallback(
      (events: readonly ServerSentEvent[]) => {
        if (events.some((event) => concernsKey(event, name))) {
          refreshSoon();
        }
      },
      [refreshSoon, name],
    ),
  );
  const { value, error } = loaded.value;
  const isGone = error?.reason === "KEY_NOT_FOUND" || error?.code === "not_found";
  const changed = async (): Promise<void> => {
    isEditing.value = false;
    onChanged();
    await refresh();
  };
  return (
    <Panel
      label={`Key ${name}`}
      title={<span class="mono">{name}</span>}
      tools={<CopyButton text={name} label="Copy the key" />}
      onClose={onClose}
    >
      {error !== undefined && <Problem message={isGone ? "The key does not exist." : error.message} />}
      {value !== undefined && (
        <KeyProperties kv={value} namespace={namespace} isLive={state.value === "open"} isGone={isGone} />
      )}
      <div class="bar">
        <Choice<View>
          label="View"
          options={[
            ["value", "Value"],
            ["history", "History"],
          ]}
          value={view}
        />
        {isWritable && value !== undefined && !isGone && !isEditing.value && view.value === "value" && (
          <span class="actions">
            <Button
              onClick={() => {
                isEditing.value = true;
              }}
            >
              Edit
            </Button>
            <Button
              kind="danger"
              onClick={() => {
                isDeleting.value = true;
              }}
            >
              Delete
            </Button>
          </span>
        )}
      </div>
      {view.value === "history" ? (
        <KeyHistory namespace={namespace} name={name} modRevision={isGone ? "gone" : (value?.modRevision ?? "")} />
      ) : (
        value !== undefined &&
        (isEditing.value ? (
          <ValueEditor
            namespace={namespace}
            name={name}
            current={value}
            onSaved={() => void changed()}
            onCancel={() => {
              isEditing.value = false;
            }}
          />
        ) : (
          <KeyValueView value={value.value} />
        ))
      )}
      {isDeleting.value && value !== undefined && (
        <FormDialog
          title="Delete the key"
          action="Delete"
          isDanger
          confirmation={name}
          done={`Key ${name} deleted`}
          onSubmit={async () => {
            await deleteKey(namespace, name, value.modRevision);
            await changed();
          }}
          onClose={() => {
            isDeleting.value = false;
          }}
        >
          <p>The key is deleted only if nothing has changed it since revision {value.modRevision}.</p>
        </FormDialog>
      )}
    </Panel>
  );
}
