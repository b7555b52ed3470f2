/** Ends a hold by force, after the person has typed the name of the lock. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { forceReleaseLock, type Lock, type LockHold } from "../../api/index.ts";
import { Owner } from "../../people/index.ts";
import { FormDialog, TextField } from "../../ui/index.ts";

export interface ForceReleaseDialogProps {
  readonly namespace: string;
  readonly lock: Lock;
  readonly hold: LockHold;
  readonly onClose: () => void;
}

export function ForceReleaseDialog({ namespace, lock, hold, onClose }: ForceReleaseDialogProps): JSX.Element {
  const reason = useSignal("");
  const { name, rw } = lock;
  return (
    <FormDialog
      title="Force release"
      action="Force release"
      isDanger
      confirmation={name}
      done={`Hold ${hold.fencingToken} of ${name} has ended`}
      onClose={onClose}
      onSubmit={() => forceReleaseLock({ namespace, name, rw, fencingToken: hold.fencingToken, reason: reason.value })}
    >
      <p>
        This ends the hold <span class="mono">{hold.fencingToken}</span> of{" "}
        <strong>
          <Owner {...hold} />
        </strong>
        , who may not notice. Writes that are guarded by the hold are refused from now on. Work that is not guarded
        continues: make sure that the holder has stopped.
      </p>
      <TextField label="Reason" isRequired hint="For the logs of the members." value={reason} />
    </FormDialog>
  );
}
