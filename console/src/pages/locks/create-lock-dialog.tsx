/** Creates a lock of any kind. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { createLock, createSemaphore } from "../../api/index.ts";
import { Choice, FormDialog, TextField } from "../../ui/index.ts";

export interface CreateLockDialogProps {
  readonly namespace: string;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

type Kind = "exclusive" | "rw" | "semaphore";

export function CreateLockDialog({ namespace, onCreated, onClose }: CreateLockDialogProps): JSX.Element {
  const name = useSignal("");
  const kind = useSignal<Kind>("exclusive");
  const ttl = useSignal("30");
  const delay = useSignal("0");
  const permits = useSignal("1");
  const isSemaphore = kind.value === "semaphore";
  return (
    <FormDialog
      title="New lock"
      action="Create"
      done={`Lock ${name.value} created`}
      onClose={onClose}
      onSubmit={async () => {
        const lock = { namespace, name: name.value, ttlSeconds: Number(ttl.value) };
        if (isSemaphore) {
          await createSemaphore({ ...lock, permits: Number(permits.value) });
        } else {
          await createLock({ ...lock, rw: kind.value === "rw", lockDelaySeconds: Number(delay.value) });
        }
        onCreated();
      }}
    >
      <TextField label="Name" isRequired hasFocus isMonospaced hint="1 to 256 bytes." value={name} />
      <Choice<Kind>
        label="Kind"
        options={[
          ["exclusive", "Exclusive"],
          ["rw", "Read-write"],
          ["semaphore", "Semaphore"],
        ]}
        value={kind}
      />
      <TextField
        label="Time to live of a hold in seconds"
        type="number"
        min={1}
        max={86_400}
        isRequired
        hint="1 to 86,400. Holders renew before it ends."
        value={ttl}
      />
      {isSemaphore ? (
        <TextField
          key="permits"
          label="Permits"
          type="number"
          min={1}
          max={10_000}
          isRequired
          hint="1 to 10,000: how many all holds together may have."
          value={permits}
        />
      ) : (
        <TextField
          key="delay"
          label="Delay after an expired or forced hold in seconds"
          type="number"
          min={0}
          max={60}
          isRequired
          hint="0 to 60."
          value={delay}
        />
      )}
    </FormDialog>
  );
}
