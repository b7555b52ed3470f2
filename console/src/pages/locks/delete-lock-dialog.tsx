/** Deletes a lock, after the person has typed its name. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { deleteLock, type Lock } from "../../api/index.ts";
import { Checkbox, FormDialog } from "../../ui/index.ts";

export interface DeleteLockDialogProps {
  readonly namespace: string;
  readonly lock: Lock;
  /** Whether the user may delete a lock that is in use. */
  readonly mayForce: boolean;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

export function DeleteLockDialog({
  namespace,
  lock,
  mayForce,
  onDeleted,
  onClose,
}: DeleteLockDialogProps): JSX.Element {
  const force = useSignal(false);
  const { name } = lock;
  return (
    <FormDialog
      title="Delete the lock"
      action="Delete"
      isDanger
      confirmation={name}
      done={`Lock ${name} deleted`}
      onSubmit={async () => {
        await deleteLock(lock, { namespace, name, force: force.value });
        onDeleted();
      }}
      onClose={onClose}
    >
      <p>
        The lock is deleted only if no one holds it or waits for it
        {mayForce ? ", unless you end its holds by force" : ""}.
      </p>
      {mayForce && <Checkbox label="Also if it is in use: its holds end, and no one waits any more" value={force} />}
    </FormDialog>
  );
}
