/** `quoinctl log append` and `log append-batch` */

import { InvalidArgumentError } from "commander";
import { guardOf, LOG_GUARD_OPTIONS, type OptionsOf, option, readValue, textOption } from "../arguments/index.ts";
import { type CompleteCommand, command } from "../session/index.ts";
import { parseCount } from "../text/index.ts";
import { findLogId } from "./log-argument.ts";

/** More than any batch: the SDK refuses what is too large. */
const BATCH_BYTES_MAX = 4 * 1_024 * 1_024;
const NEWLINE = "\n";

const APPEND = command("append <LOG> [DATA]", {
  description: "append an event; without DATA, or with -, it is the standard input",
  options: {
    file: option("<FILE>", "the event is in this file"),
    text: textOption("the event"),
    ...conditions("key of the event, at most 1,024 bytes: an event with a remembered key is not stored again"),
  },
  run: async (session, text, argument, options) => {
    const payload = await readValue(session.terminal, { argument, text: options.text, file: options.file });
    const { sequence, replayed } = await session.withClient(async (client) =>
      client.logs.append(await findLogId(client, text), payload, conditionsOf(options)),
    );
    await session.print({
      document: { success: true, sequence, replayed },
      shown: { columns: ["SEQUENCE", "REPLAYED"], rows: [[sequence, replayed]] },
    });
  },
});

const APPEND_BATCH = command("append-batch <LOG> [DATA]", {
  description: "append all events or none; without DATA, or with -, they are the standard input",
  options: {
    file: option("<FILE>", "the events are in this file"),
    text: textOption("the events"),
    delimiter: option("<TEXT>", "what separates the events (default: a line break)", parseDelimiter),
    ...conditions(
      "base of the keys: event i, from 0, has the key KEY:i, of at most 1,024 bytes (default: a random one)",
    ),
  },
  run: async (session, text, argument, options) => {
    const { text: given, file, delimiter = NEWLINE } = options;
    const payloads = split(
      await readValue(session.terminal, { argument, text: given, file }, BATCH_BYTES_MAX),
      delimiter,
    );
    const { sequences, lastSequence, replayed } = await session.withClient(async (client) =>
      client.logs.appendBatch(await findLogId(client, text), payloads, conditionsOf(options)),
    );
    await session.print({
      document: { success: true, sequences: sequences ?? null, last_sequence: lastSequence, replayed },
      shown: {
        columns: ["EVENTS", "LAST", "REPLAYED"],
        rows: [[payloads.length, lastSequence, replayed]],
      },
    });
  },
});

/** The commands of the group. */
export const LOG_APPEND_COMMANDS: readonly CompleteCommand[] = [APPEND, APPEND_BATCH];

function conditions(keyText: string) {
  return {
    idempotencyKey: option("<KEY>", keyText),
    ifSequence: option("<N>", "append only if N is the last sequence of the log; 0 = the log is new", parseCount),
    ...LOG_GUARD_OPTIONS,
  };
}

function conditionsOf(options: OptionsOf<ReturnType<typeof conditions>>) {
  return { key: options.idempotencyKey, expectedSequence: options.ifSequence, guard: guardOf(options) };
}

/** Splits like the service: one delimiter at the very end is ignored. */
function split(value: Uint8Array, delimiter: string): readonly Uint8Array[] {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const separator = Buffer.from(delimiter);
  const events: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(separator, from);
    const to = found === -1 ? bytes.length : found;
    events.push(bytes.subarray(from, to));
    from = to + separator.length;
  }
  return events;
}

function parseDelimiter(text: string): string {
  if (text === "") {
    throw new InvalidArgumentError("Give at least one character.");
  }
  return text;
}
