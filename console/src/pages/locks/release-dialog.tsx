/** Releases a hold of the person. */

import type { JSX } from "preact";
import { type Lock, type LockHold, releaseLock } from "../../api/index.ts";
import { Owner } from "../../people/index.ts";
import { FormDialog } from "../../ui/index.ts";

export interface ReleaseDialogProps {
  readonly namespace: string;
  readonly lock: Lock;
  readonly hold: LockHold;
  readonly onClose: () => void;
}

export function ReleaseDialog({ namespace, lock, hold, onClose }: ReleaseDialogProps): JSX.Element {
  const { name } = lock;
  const { owner, fencingToken } = hold;
  return (
    <FormDialog
      title="Release"
      action="Release"
      done={`${name} is released`}
      onClose={onClose}
      onSubmit={() => releaseLock(lock, { namespace, name, owner, fencingToken })}
    >
      <p>
        This ends the hold <span class="mono">{fencingToken}</span> of{" "}
        <strong>
          <Owner {...hold} />
        </strong>
        . It has your user, but a program with one of your API keys may have acquired it: make sure that it has stopped.
      </p>
    </FormDialog>
  );
}
