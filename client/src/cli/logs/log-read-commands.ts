/** `quoinctl log read` and `log tail` */

import { type Command, Option } from "commander";
import type { Client, LogEvent } from "../../index.ts";
import { addEventOptions, type EventForms, type EventOptions, handleEvents, wordsBehind } from "../running/index.ts";
import type { Session } from "../session/index.ts";
import { bytesDocument, displayValue, escapeControls, parsePositiveCount, parseWaitMs } from "../text/index.ts";

/** The id of a log, given by its id or its name. */
type FindLogId = (client: Client, text: string) => Promise<string>;

/** Characters of a payload that a line shows. */
const SHOWN_CHARACTERS = 60;
const MS_PER_SECOND = 1_000;

/** Adds the commands to `quoinctl log`. */
export function addReadCommands(log: Command, session: Session, findLogId: FindLogId): void {
  addRead(log, session, findLogId);
  addTail(log, session, findLogId);
}

function addRead(log: Command, session: Session, findLogId: FindLogId): void {
  log
    .command("read <LOG>")
    .description("print a page of events")
    .addOption(fromOption("(default: 1)"))
    .addOption(new Option("--limit <N>", "events at most, up to 1,000 (default: 100)").argParser(parsePositiveCount))
    .addOption(
      new Option("--wait <DURATION>", "if there are no events, wait this long, up to 60s").argParser(parseWaitMs),
    )
    .action(
      async (
        text: string,
        {
          from: fromSequence,
          limit,
          wait,
        }: { readonly from?: number; readonly limit?: number; readonly wait?: number },
      ) => {
        const waitSeconds = wait === undefined ? undefined : Math.ceil(wait / MS_PER_SECOND);
        const { timeoutMs } = session;
        const { events, lastSequence } = await session.withClient(async (client) =>
          client.logs.read(await findLogId(client, text), { fromSequence, limit, waitSeconds, timeoutMs }),
        );
        await session.print({
          document: { events: events.map(eventDocument), last_sequence: lastSequence },
          shown: { columns: ["SEQUENCE", "TIME", "KEY", "PAYLOAD"], rows: events.map(cellsOf) },
        });
      },
    );
}

function addTail(log: Command, session: Session, findLogId: FindLogId): void {
  const command = log
    .command("tail <LOG> [COMMAND...]")
    .description("print events as they come, one per line, until interrupted, or run a command for each")
    .addOption(fromOption("(default: the next one)"));
  addEventOptions(command, "<LOG>", TAIL_HELP).action(
    async (text: string, words: readonly string[], options: EventOptions & { readonly from?: number }) => {
      const command = wordsBehind(session, words);
      await session.withClient(async (client) => {
        const logId = await findLogId(client, text);
        // Always: a tail itself waits for a log that cannot be reached.
        const { lastSequence } = await client.logs.describe(logId);
        const fromSequence = options.from ?? lastSequence + 1;
        session.note(`following from sequence ${fromSequence} on`);
        const events = client.logs.tail(logId, { fromSequence });
        await handleEvents(session, events, formsOf(logId), command, options);
      });
    },
  );
}

const TAIL_HELP = `
The command runs once for each event, one after the other. Its environment has QUOIN_EVENT (APPEND), QUOIN_EVENT_LOG
(the id of the log), QUOIN_EVENT_SEQUENCE, QUOIN_EVENT_TIMESTAMP and QUOIN_EVENT_IDEMPOTENCY_KEY. Its standard input is
the payload, or the document that -o json or -o yaml would print:

  quoinctl log tail orders -- ./handle-order.sh`;

function formsOf(logId: string): EventForms<LogEvent> {
  return {
    document: eventDocument,
    line: (event) => cellsOf(event).join("  ").trimEnd(),
    name: ({ sequence }) => `sequence ${sequence}`,
    variables: ({ sequence, timestampMs, key = "" }) => ({
      "": "APPEND",
      _LOG: logId,
      _SEQUENCE: sequence,
      _TIMESTAMP: new Date(timestampMs).toISOString(),
      _IDEMPOTENCY_KEY: key,
    }),
    value: ({ payload }) => payload,
  };
}

function fromOption(fallback: string): Option {
  return new Option("--from <N>", `the first sequence ${fallback}`).argParser(parsePositiveCount);
}

function cellsOf({ sequence, timestampMs, key, payload }: LogEvent): readonly string[] {
  const time = new Date(timestampMs).toISOString();
  return [String(sequence), time, escapeControls(key ?? ""), displayValue(payload, SHOWN_CHARACTERS)];
}

function eventDocument({ sequence, timestampMs, key, payload }: LogEvent): object {
  return {
    sequence,
    timestamp: new Date(timestampMs).toISOString(),
    ...bytesDocument("payload", payload),
    idempotency_key: key ?? null,
  };
}
