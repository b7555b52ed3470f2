/** Reads server-sent events (HTML Living Standard, section 9.2) from the chunks of an answer. */

/** The used fields of an event. */
export interface SentEvent {
  readonly id: string;
  readonly data: string;
}

/** The events of a stream; undefined for a comment, which only shows that the stream is alive. */
export async function* sentEvents(chunks: AsyncIterable<string>): AsyncGenerator<SentEvent | undefined> {
  // For an event of many chunks, search only the new chunk.
  const pending: string[] = [];
  for await (const chunk of chunks) {
    const isEnded = chunk.includes("\n\n") || (chunk.startsWith("\n") && endsWithLineBreak(pending));
    pending.push(chunk);
    if (isEnded) {
      const blocks = pending.splice(0).join("").split("\n\n");
      pending.push(blocks.pop() ?? "");
      for (const block of blocks) {
        yield eventOf(block);
      }
    }
  }
}

function endsWithLineBreak(chunks: readonly string[]): boolean {
  return chunks.findLast((chunk) => chunk !== "")?.endsWith("\n") ?? false;
}

function eventOf(block: string): SentEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
  }
  const id = fields.get("id");
  const data = fields.get("data");
  return id === undefined || data === undefined ? undefined : { id, data };
}
