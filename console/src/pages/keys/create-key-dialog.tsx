/** Creates a key that does not exist yet. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { compareAndSwap } from "../../api/index.ts";
import { base64OfBytes, parsedValue, type ValueForm, ValueProblem } from "../../text/index.ts";
import { Choice, FormDialog, TextArea, TextField } from "../../ui/index.ts";
import { TTL_HINT, ttlOf } from "./ttl.ts";
import { VALUE_FORMS } from "./value-forms.ts";

export interface CreateKeyDialogProps {
  readonly namespace: string;
  readonly prefix: string;
  readonly onCreated: (key: string) => void;
  readonly onClose: () => void;
}

export function CreateKeyDialog({ namespace, prefix, onCreated, onClose }: CreateKeyDialogProps): JSX.Element {
  const key = useSignal(prefix);
  const text = useSignal("");
  const form = useSignal<ValueForm>("text");
  const ttl = useSignal("");
  return (
    <FormDialog
      title="New key"
      action="Create"
      done={`Key ${key.value} created`}
      onClose={onClose}
      onSubmit={async () => {
        const { success } = await compareAndSwap({
          namespace,
          key: key.value,
          value: base64OfBytes(parsedValue(text.value, form.value)),
          expectedModRevision: "0",
          ttlSeconds: ttlOf(ttl.value),
        });
        if (!success) {
          throw new ValueProblem("The key exists already.");
        }
        onCreated(key.value);
      }}
    >
      <TextField
        label="Key"
        isRequired
        hasFocus
        isMonospaced
        hint="1 to 1,024 bytes. A slash makes a folder."
        value={key}
      />
      <Choice label="Form of the value" options={VALUE_FORMS} value={form} />
      <TextArea label="Value" rows={8} value={text} />
      <TextField label="Time to live in seconds" type="number" min={1} hint={TTL_HINT} value={ttl} />
    </FormDialog>
  );
}
