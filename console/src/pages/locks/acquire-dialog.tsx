/** Acquires a lock for the person, if no other hold is in the way. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { acquireLock, type Lock } from "../../api/index.ts";
import { ValueProblem } from "../../text/index.ts";
import { Choice, FormDialog, TextField } from "../../ui/index.ts";

export interface AcquireDialogProps {
  readonly namespace: string;
  readonly lock: Lock;
  /** The first label of the holder. */
  readonly owner: string;
  readonly onAcquired: () => void;
  readonly onClose: () => void;
}

type Mode = "READ" | "WRITE";

export function AcquireDialog({ namespace, lock, owner, onAcquired, onClose }: AcquireDialogProps): JSX.Element {
  const label = useSignal(owner);
  const ttl = useSignal(lock.ttlSeconds);
  const mode = useSignal<Mode>("WRITE");
  const { name, rw } = lock;
  return (
    <FormDialog
      title="Acquire"
      action="Acquire"
      done={`You hold ${name}`}
      onClose={onClose}
      onSubmit={async () => {
        const hold = { owner: label.value, ttlSeconds: Number(ttl.value), mode: rw ? mode.value : null };
        if (!(await acquireLock({ namespace, name, ...hold }))) {
          throw new ValueProblem("The lock has another holder, or others wait for it.");
        }
        onAcquired();
      }}
    >
      <p>
        Others wait until you release <strong class="mono">{name}</strong>, or its time to live ends. The console does
        not renew it.
      </p>
      {rw && (
        <Choice<Mode>
          label="Mode"
          options={[
            ["WRITE", "Write"],
            ["READ", "Read"],
          ]}
          value={mode}
        />
      )}
      <TextField label="Holder" isRequired hint="What others see, at most 256 bytes." value={label} />
      <TextField
        label="Time to live in seconds"
        type="number"
        min={1}
        max={86_400}
        isRequired
        hint="1 to 86,400."
        value={ttl}
      />
    </FormDialog>
  );
}
