/** `quoinctl log read` and `log tail` */

import { once } from "node:events";
import { type Command, Option } from "commander";
import type { Client, LogEvent } from "../index.ts";
import { bytesDocument } from "./bytes-document.ts";
import { parsePositiveCount } from "./count.ts";
import { displayValue, escapeControls } from "./displayed-text.ts";
import { parseWaitMs } from "./duration.ts";
import { streamFormatter } from "./output.ts";
import type { Session } from "./session.ts";

/** The id of a log, given by its id or its name. */
type FindLogId = (client: Client, text: string) => Promise<string>;

/** Characters of a payload that a line shows. */
const shownCharacters = 60;
const msPerSecond = 1_000;

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
        const waitSeconds = wait === undefined ? undefined : Math.ceil(wait / msPerSecond);
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
  log
    .command("tail <LOG>")
    .description("print events as they come, one per line, until interrupted")
    .addOption(fromOption("(default: the next one)"))
    .addOption(new Option("--limit <N>", "stop after this many").argParser(parsePositiveCount))
    .action(
      async (
        text: string,
        { from, limit = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly limit?: number },
      ) => {
        const { stdout } = session.terminal;
        await session.withClient(async (client) => {
          const logId = await findLogId(client, text);
          const fromSequence = from ?? (await client.logs.describe(logId)).lastSequence + 1;
          session.note(`following from sequence ${fromSequence} on`);
          const formatter = await streamFormatter(session.outputFormat);
          const textOf = (event: LogEvent) => formatter?.(eventDocument(event)) ?? lineOf(event);
          let printed = 0;
          for await (const event of client.logs.tail(logId, { fromSequence })) {
            // Wait for a slow reader; the member then waits too.
            if (!stdout.write(textOf(event))) await once(stdout, "drain");
            printed += 1;
            if (printed === limit) return;
          }
        });
      },
    );
}

function fromOption(fallback: string): Option {
  return new Option("--from <N>", `the first sequence ${fallback}`).argParser(parsePositiveCount);
}

function lineOf(event: LogEvent): string {
  return `${cellsOf(event).join("  ").trimEnd()}\n`;
}

function cellsOf({ sequence, timestampMs, key, payload }: LogEvent): readonly string[] {
  const time = new Date(timestampMs).toISOString();
  return [String(sequence), time, escapeControls(key ?? ""), displayValue(payload, shownCharacters)];
}

function eventDocument({ sequence, timestampMs, key, payload }: LogEvent): object {
  return {
    sequence,
    timestamp: new Date(timestampMs).toISOString(),
    ...bytesDocument("payload", payload),
    idempotency_key: key ?? null,
  };
}
