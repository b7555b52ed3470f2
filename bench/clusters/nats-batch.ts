/**
 * The messages of an atomic batch as bytes of the protocol between clients and servers of NATS. The library writes headers
 * for one message at a time, which for a batch of 1,000 takes more of the generator than everything else.
 */

const LINE_BREAK = 0x0a;
/** More than what is around the names and the data of a message. */
const FRAME_BYTES_MAX = 128;

/** Of the commit, which is published as a message of its own. */
export const BATCH_ID = "Nats-Batch-Id";
export const BATCH_SEQUENCE = "Nats-Batch-Sequence";
export const BATCH_COMMIT = "Nats-Batch-Commit";

/**
 * A publish of each message, without the commit that must follow them. None of them asks for an answer.
 *
 * @param subject in ASCII.
 * @param batch its id, in ASCII, 64 characters at most.
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

/** Each line without its line break, as views of the same memory. What follows the last line break is no line. */
export function linesOf(lines: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let to = lines.indexOf(LINE_BREAK); to >= 0; to = lines.indexOf(LINE_BREAK, from)) {
    found.push(lines.subarray(from, to));
    from = to + 1;
  }
  return found;
}
