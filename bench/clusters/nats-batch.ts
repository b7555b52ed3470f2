/**
 * The messages of an atomic batch as bytes of the NATS client protocol. The library writes headers for one message at a
 * time. For a batch of 1,000 that costs the generator more than everything else.
 */

const LINE_BREAK = 0x0a;
/** An upper bound of the bytes around the names and the data of a message. */
const FRAME_BYTES_MAX = 128;

/** Also used by the commit, which is a separate message. */
export const BATCH_ID = "Nats-Batch-Id";
export const BATCH_SEQUENCE = "Nats-Batch-Sequence";
export const BATCH_COMMIT = "Nats-Batch-Commit";

/**
 * A publish of each message, without the commit that must follow them. None of them requests an answer.
 *
 * @param subject in ASCII.
 * @param batch its id, in ASCII, at most 64 characters.
 */
export function encodeBatch(subject: string, batch: string, messages: readonly Buffer[]): Buffer {
  const dataBytes = messages.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.allocUnsafe(dataBytes + messages.length * (FRAME_BYTES_MAX + batch.length + subject.length));
  let at = 0;
  let sequence = 1;
  for (const message of messages) {
    const headers = `NATS/1.0\r\n${BATCH_ID}: ${batch}\r\n${BATCH_SEQUENCE}: ${sequence++}\r\n\r\n`;
    const sizes = `${headers.length} ${headers.length + message.length}`;
    at += bytes.write(`HPUB ${subject} ${sizes}\r\n${headers}`, at, "latin1");
    at += message.copy(bytes, at);
    at += bytes.write("\r\n", at, "latin1");
  }
  return bytes.subarray(0, at);
}

/** Each line without its line break, as views of the same memory. Bytes after the last line break are not a line. */
export function linesOf(lines: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let to = lines.indexOf(LINE_BREAK); to >= 0; to = lines.indexOf(LINE_BREAK, from)) {
    found.push(lines.subarray(from, to));
    from = to + 1;
  }
  return found;
}
