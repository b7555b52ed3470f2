/** Acquires a lock, or permits of a semaphore, for the person, if no other hold is in the way. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { acquireLock, acquirePermits, type Lock } from "../../api/index.ts";
import { countText, ValueProblem } from "../../text/index.ts";
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
  const permits = useSignal("1");
  const { name, rw } = lock;
  const isSemaphore = lock.permits > 0;
  const acquire = (): Promise<boolean> => {
    const hold = { namespace, name, owner: label.value, ttlSeconds: Number(ttl.value) };
    return isSemaphore
      ? acquirePermits({ ...hold, permits: Number(permits.value) })
      : acquireLock({ ...hold, mode: rw ? mode.value : null });
  };
  return (
    <FormDialog
      title="Acquire"
      action="Acquire"
      done={`You hold ${name}`}
      onClose={onClose}
      onSubmit={async () => {
        if (!(await acquire())) {
          throw new ValueProblem(
            isSemaphore
              ? "There are fewer free permits, or others wait for some."
              : "The lock has another holder, or others wait for it.",
          );
        }
        onAcquired();
      }}
    >
      <p>
        Others wait until you release {isSemaphore ? "your permits of " : ""}
        <strong class="mono">{name}</strong>, or the time to live of your hold ends. The console does not renew it.
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
      {isSemaphore && (
        <TextField
          label="Permits"
          type="number"
          min={1}
          max={lock.permits}
          isRequired
          hint={`1 to ${countText(lock.permits)}.`}
          value={permits}
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
