/** Appends one event. A repetition after a lost answer stores nothing twice. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { appendEvent } from "../../api/index.ts";
import { bytesOfText } from "../../text/index.ts";
import { announce, Button, Problem, TextArea, useSubmission } from "../../ui/index.ts";

export function AppendForm({ logId }: { readonly logId: string }): JSX.Element {
  const text = useSignal("");
  const { onSubmit, isSending, problem } = useSubmission(async () => {
    const sequence = await appendEvent(logId, bytesOfText(text.value));
    announce(`Event ${sequence} appended`);
    text.value = "";
  });
  return (
    <form class="form append" onSubmit={onSubmit}>
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
