/** Appends one event. A repetition after a lost answer stores nothing twice. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ApiError, appendEvent } from "../../api/index.ts";
import { bytesOfText } from "../../text/index.ts";
import { announce, Button, Problem, TextArea } from "../../ui/index.ts";

export function AppendForm({ logId }: { readonly logId: string }): JSX.Element {
  const text = useSignal("");
  const problem = useSignal<string | undefined>(undefined);
  const isSending = useSignal(false);
  const append = async (): Promise<void> => {
    isSending.value = true;
    problem.value = undefined;
    try {
      const sequence = await appendEvent(logId, bytesOfText(text.value));
      announce(`Event ${sequence} appended`);
      text.value = "";
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <form
      class="form append"
      onSubmit={(event) => {
        event.preventDefault();
        void append();
      }}
    >
      <TextArea label="Append an event" rows={3} value={text} />
      <Problem message={problem.value} />
      <div class="actions">
        <Button type="submit" isDisabled={isSending.value}>
          Append
        </Button>
      </div>
    </form>
  );
}
