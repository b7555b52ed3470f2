/** `quoinctl log append` and `log append-batch` */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "../../index.ts";
import { readValue, textOption } from "../arguments/index.ts";
import type { Session } from "../session/index.ts";
import { parseCount } from "../text/index.ts";
import { type LogGuardOptions, logGuardOf, logGuardOptions } from "./log-guard-option.ts";

/** The id of a log, given by its id or its name. */
type FindLogId = (client: Client, text: string) => Promise<string>;

/** More than any batch: the SDK refuses what is too large. */
const BATCH_BYTES_MAX = 4 * 1_024 * 1_024;
const NEWLINE = "\n";

interface AppendCommandOptions extends LogGuardOptions {
  readonly idempotencyKey?: string;
  readonly ifSequence?: number;
  readonly file?: string;
  readonly text?: string;
}

/** Adds the commands to `quoinctl log`. */
export function addAppendCommands(log: Command, session: Session, findLogId: FindLogId): void {
  addAppend(log, session, findLogId);
  addAppendBatch(log, session, findLogId);
}

function addAppend(log: Command, session: Session, findLogId: FindLogId): void {
  const command = log
    .command("append <LOG> [DATA]")
    .description("append an event; without DATA, or with -, it is the standard input")
    .option("--file <FILE>", "the event is in this file")
    .addOption(textOption("the event"));
  addConditions(
    command,
    "key of the event, at most 1,024 bytes: an event with a remembered key is not stored again",
  ).action(async (text: string, argument: string | undefined, options: AppendCommandOptions) => {
    const payload = await readValue(session.terminal, { argument, text: options.text, file: options.file });
    const { sequence, replayed } = await session.withClient(async (client) =>
      client.logs.append(await findLogId(client, text), payload, conditionsOf(options)),
    );
    await session.print({
      document: { success: true, sequence, replayed },
      shown: { columns: ["SEQUENCE", "REPLAYED"], rows: [[String(sequence), String(replayed)]] },
    });
  });
}

function addAppendBatch(log: Command, session: Session, findLogId: FindLogId): void {
  const command = log
    .command("append-batch <LOG> [DATA]")
    .description("append all events or none; without DATA, or with -, they are the standard input")
    .option("--file <FILE>", "the events are in this file")
    .addOption(textOption("the events"))
    .addOption(
      new Option("--delimiter <TEXT>", "what separates the events (default: a line break)").argParser(parseDelimiter),
    );
  addConditions(
    command,
    "base of the keys: event i, from 0, has the key KEY:i, of at most 1,024 bytes (default: a random one)",
  ).action(
    async (
      text: string,
      argument: string | undefined,
      options: AppendCommandOptions & { readonly delimiter?: string },
    ) => {
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
          rows: [[String(payloads.length), String(lastSequence), String(replayed)]],
        },
      });
    },
  );
}

function addConditions(command: Command, keyText: string): Command {
  command
    .option("--idempotency-key <KEY>", keyText)
    .addOption(
      new Option("--if-sequence <N>", "append only if N is the last sequence of the log; 0 = the log is new").argParser(
        parseCount,
      ),
    );
  for (const option of logGuardOptions()) {
    command.addOption(option);
  }
  return command;
}

function conditionsOf(options: AppendCommandOptions) {
  return { key: options.idempotencyKey, expectedSequence: options.ifSequence, guard: logGuardOf(options) };
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
