/** How a form calls a member. The form stays as it is, with the member's words, if the call fails. */

import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { ApiError } from "../api/index.ts";
import { ValueProblem } from "../text/index.ts";

export interface Submission {
  /** For the form. */
  readonly onSubmit: (event: Event) => void;
  /** Whether a call is under way. Disable the button that submits: then the form submits nothing twice. */
  readonly isSending: ReadonlySignal<boolean>;
  /** Why the last call failed, or what is wrong with the entries; undefined = nothing is. */
  readonly problem: Signal<string | undefined>;
}

/**
 * Returns what a form needs to call a member.
 *
 * @param send makes the call. An ApiError or a ValueProblem becomes the problem; any other error is a bug, and stays
 * unhandled.
 */
export function useSubmission(send: () => Promise<void>): Submission {
  const isSending = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const submit = async (): Promise<void> => {
    isSending.value = true;
    problem.value = undefined;
    try {
      await send();
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ValueProblem)) {
        throw error;
      }
      problem.value = error.message;
    } finally {
      isSending.value = false;
    }
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void submit();
  };
  return { onSubmit, isSending, problem };
}
