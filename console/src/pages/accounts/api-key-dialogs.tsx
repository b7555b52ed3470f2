/** Creates an API key, and shows its secret once. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type CreatedApiKey, createApiKey } from "../../api/index.ts";
import { Button, CopyButton, Dialog, FormDialog, TextField } from "../../ui/index.ts";

export interface CreateApiKeyDialogProps {
  readonly onCreated: (created: CreatedApiKey) => void;
  readonly onClose: () => void;
}

export function CreateApiKeyDialog({ onCreated, onClose }: CreateApiKeyDialogProps): JSX.Element {
  const name = useSignal("");
  const days = useSignal("");
  return (
    <FormDialog
      title="New API key"
      action="Create"
      onClose={onClose}
      onSubmit={async () => onCreated(await createApiKey(name.value, days.value === "" ? null : Number(days.value)))}
    >
      <p>The key acts as you, with your role and your namespaces.</p>
      <TextField
        label="Name"
        isRequired
        hasFocus
        maxLength={128}
        hint="For people, such as the program that uses it."
        value={name}
      />
      <TextField
        label="Days until it expires"
        type="number"
        min={1}
        max={3_650}
        hint="1 to 3,650. Empty: it does not expire."
        value={days}
      />
    </FormDialog>
  );
}

export interface CreatedApiKeyDialogProps {
  readonly created: CreatedApiKey;
  readonly onClose: () => void;
}

/** Escape does not close it: the secret would be lost by accident. */
export function CreatedApiKeyDialog({ created, onClose }: CreatedApiKeyDialogProps): JSX.Element {
  return (
    <Dialog title={`API key ${created.name}`}>
      <p>Store the key now. It is shown only this once.</p>
      <p class="secret">
        <code>{created.key}</code>
        <CopyButton text={created.key} label="Copy the API key" />
      </p>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
