/** A dialog with a form that calls a member. It stays open with the member's words if the call fails. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { shownText } from "../text/index.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./fields.tsx";
import { Problem } from "./problem.tsx";
import { announce } from "./toast.tsx";
import { useSubmission } from "./use-submission.ts";

export interface FormDialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Text of the button, such as `Create`. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Text that the person must type, as it is shown, before the action is possible; absent = none. */
  readonly confirmation?: string;
  /** Makes the call. */
  readonly onSubmit: () => Promise<void>;
  /** Announced after success; absent = nothing is announced. */
  readonly done?: string;
  readonly onClose: () => void;
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, children, action, isDanger = false, confirmation, onSubmit, done, onClose } = props;
  const typed = useSignal("");
  const submission = useSubmission(async () => {
    await onSubmit();
    if (done !== undefined) {
      announce(done);
    }
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={submission.onSubmit}>
        {children}
        {confirmation !== undefined && (
          <>
            <p>
              Type <code class="name">{confirmation}</code> to confirm.
            </p>
            <TextField label="Confirmation" isLabelHidden isMonospaced value={typed} />
          </>
        )}
        <Problem message={submission.problem.value} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind={isDanger ? "danger" : "primary"}
            isDisabled={
              submission.isSending.value || (confirmation !== undefined && typed.value !== shownText(confirmation))
            }
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
