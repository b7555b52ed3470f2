/** Edits a value. It is written only if the key is still at the revision that the person saw. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { compareAndSwap } from "../../api/index.ts";
import {
  base64OfBytes,
  bestForm,
  bytesOfBase64,
  editableValue,
  indentedJson,
  parsedValue,
  possibleForms,
  type ValueForm,
  ValueProblem,
} from "../../text/index.ts";
import { announce, Button, Choice, Problem, TextArea, TextField, useSubmission } from "../../ui/index.ts";
import { TTL_HINT, ttlOf } from "./ttl.ts";
import { VALUE_FORMS } from "./value-forms.ts";

/** What was shown when the person began to edit, or reloaded. */
interface Seen {
  readonly value: string;
  readonly modRevision: string;
  readonly expiresInMs: string;
}

export interface ValueEditorProps {
  readonly namespace: string;
  readonly name: string;
  /** The key as it is now. */
  readonly current: Seen;
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

const SECOND_MS = 1_000;

export function ValueEditor({ namespace, name, current, onSaved, onCancel }: ValueEditorProps): JSX.Element {
  const seen = useRef(current);
  const bytes = bytesOfBase64(seen.current.value);
  const form = useSignal<ValueForm>(possibleForms(bytes).find((one) => one === bestForm(bytes)) ?? "hex");
  const text = useSignal(editableValue(bytes, form.value));
  const ttl = useSignal(ttlText(seen.current));
  const isChangedBelow = current.modRevision !== seen.current.modRevision;

  const { onSubmit, isSending, problem } = useSubmission(async () => {
    const { success, modRevision } = await compareAndSwap({
      namespace,
      key: name,
      value: base64OfBytes(parsedValue(text.value, form.value)),
      expectedModRevision: seen.current.modRevision,
      ttlSeconds: ttlOf(ttl.value),
    });
    if (!success) {
      throw new ValueProblem(conflictText(seen.current.modRevision, modRevision));
    }
    announce(`Saved at revision ${modRevision}`);
    onSaved();
  });
  const reload = (): void => {
    seen.current = current;
    const fresh = bytesOfBase64(current.value);
    form.value = possibleForms(fresh).find((one) => one === form.value) ?? "hex";
    text.value = editableValue(fresh, form.value);
    ttl.value = ttlText(current);
    problem.value = undefined;
  };
  const edit = (change: () => void): void => {
    try {
      change();
      problem.value = undefined;
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  const changeForm = (next: ValueForm): void =>
    edit(() => {
      text.value = editableValue(parsedValue(text.value, form.value), next);
      form.value = next;
    });
  const indent = (): void =>
    edit(() => {
      text.value = indentedJson(text.value);
    });
  return (
    <form class="form" onSubmit={onSubmit}>
      <Choice label="Form of the value" options={VALUE_FORMS} value={form.value} onInput={changeForm} />
      <TextArea label="Value" rows={14} value={text} />
      {form.value === "json" && (
        <div class="actions">
          <Button onClick={indent}>Indent</Button>
        </div>
      )}
      <TextField label="Time to live in seconds" type="number" min={1} hint={TTL_HINT} value={ttl} />
      <Problem
        message={
          problem.value ?? (isChangedBelow ? conflictText(seen.current.modRevision, current.modRevision) : undefined)
        }
      />
      <div class="actions">
        {isChangedBelow && <Button onClick={reload}>Load the present value</Button>}
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" isDisabled={isSending.value}>
          Save over revision {seen.current.modRevision}
        </Button>
      </div>
    </form>
  );
}

function conflictText(seen: string, now: string): string {
  return now === "0"
    ? `The key at revision ${seen} was deleted meanwhile. Nothing was saved.`
    : `The key has changed: you see revision ${seen}, and the present one is ${now}. Nothing was saved.`;
}

function ttlText({ expiresInMs }: Seen): string {
  const ms = Number(expiresInMs);
  return ms === 0 ? "" : String(Math.ceil(ms / SECOND_MS));
}
