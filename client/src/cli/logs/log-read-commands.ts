/** `quoinctl log read` and `log tail` */

import type { LogEvent } from "../../index.ts";
import { option } from "../arguments/index.ts";
import { EVENT_OPTIONS, type EventForms, eventUsage, handleEvents, wordsBehind } from "../running/index.ts";
import { type CompleteCommand, command } from "../session/index.ts";
import { bytesDocument, displayValue, escapeControls, parsePositiveCount, parseWaitMs } from "../text/index.ts";
import { findLogId } from "./log-argument.ts";

/** Characters of a payload that a line shows. */
const SHOWN_CHARACTERS = 60;
const MS_PER_SECOND = 1_000;

const TAIL_HELP = `
The command runs once for each event, one after the other. Its environment has QUOIN_EVENT (APPEND), QUOIN_EVENT_LOG
(the id of the log), QUOIN_EVENT_SEQUENCE, QUOIN_EVENT_TIMESTAMP and QUOIN_EVENT_IDEMPOTENCY_KEY. Its standard input is
the payload, or the document that -o json or -o yaml would print:

  quoinctl log tail orders -- ./handle-order.sh`;

const READ = command("read <LOG>", {
  description: "print a page of events",
  options: {
    from: option("<N>", "the first sequence (default: 1)", parsePositiveCount),
    limit: option("<N>", "events at most, up to 1,000 (default: 100)", parsePositiveCount),
    wait: option("<DURATION>", "if there are no events, wait this long, up to 60s", parseWaitMs),
  },
  run: async (session, text, { from: fromSequence, limit, wait }) => {
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
});

const TAIL = command("tail <LOG> [COMMAND...]", {
  description: "print events as they come, one per line, until interrupted, or run a command for each",
  options: {
    from: option("<N>", "the first sequence (default: the next one)", parsePositiveCount),
    ...EVENT_OPTIONS,
  },
  usage: eventUsage("<LOG>"),
  help: TAIL_HELP,
  run: async (session, text, words, options) => {
    const program = wordsBehind(session, words);
    await session.withClient(async (client) => {
      const logId = await findLogId(client, text);
      // Always: a tail itself waits for a log that cannot be reached.
      const { lastSequence } = await client.logs.describe(logId);
      const fromSequence = options.from ?? lastSequence + 1;
      session.note(`following from sequence ${fromSequence} on`);
      const events = client.logs.tail(logId, { fromSequence });
      await handleEvents(session, events, formsOf(logId), program, options);
    });
  },
});

/** The commands of the group. */
export const LOG_READ_COMMANDS: readonly CompleteCommand[] = [READ, TAIL];

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
