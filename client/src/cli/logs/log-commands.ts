/** `quoinctl log …` */

import { type Command, Option } from "commander";
import type { Client, LogInfo, LogSettings } from "../../index.ts";
import { allOf } from "../accounts/index.ts";
import { type ObjectKind, onlyOne } from "../arguments/index.ts";
import type { Session } from "../session/index.ts";
import {
  escapeControls,
  formatSize,
  isUuid,
  parseCount,
  parseDurationSeconds,
  parsePositiveCount,
  parseSize,
} from "../text/index.ts";
import { addAppendCommands } from "./log-append-commands.ts";
import { addReadCommands } from "./log-read-commands.ts";

/** Removes a setting. */
const NOT_SET = "none";

const AFTER_HELP = `
Examples:

  quoinctl log create orders --max-age 168h
  quoinctl log append default/orders '{"id": 7}' --idempotency-key order-7
  quoinctl log read orders --from 1 --limit 10 -o json
  quoinctl log tail orders`;

/** Adds the commands to their group. */
export function addLogCommands(log: Command, session: Session): void {
  log.addHelpText("after", AFTER_HELP);
  addCreate(log, session);
  addList(log, session);
  addDescribe(log, session);
  addSettings(log, session);
  addDelete(log, session);
  addAppendCommands(log, session, findLogId);
  addReadCommands(log, session, findLogId);
}

const LOGS: ObjectKind<LogInfo> = {
  title: "event log",
  notFoundReason: "LOG_NOT_FOUND",
  describe: ({ namespace, name }) => `${namespace}/${name}`,
};

/**
 * The id of a log that is given by its id, as NAMESPACE/NAME, or as NAME if only one visible namespace has that name.
 * The text is split at the first slash: a namespace has none, and a name may have more.
 *
 * @throws NotFoundError LOG_NOT_FOUND if no log has this name; UsageError if several have it.
 */
async function findLogId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const slash = text.indexOf("/");
  const found =
    slash < 0
      ? await allOf(client.logs.pages({ name: text }))
      : await client.logs.find(text.slice(slash + 1), { namespace: text.slice(0, slash) });
  return onlyOne([found ?? []].flat(), text, LOGS).logId;
}

type Setting = number | typeof NOT_SET;

interface SettingOptions {
  readonly duplicateWindow?: Setting;
  readonly maxAge?: Setting;
  readonly maxBytes?: Setting;
}

function addCreate(log: Command, session: Session): void {
  const command = log
    .command("create <NAME>")
    .description("create an event log, and print its id")
    .option("--namespace <NAMESPACE>", "the namespace of the log (default: default)");
  for (const option of settingOptions()) {
    command.addOption(option);
  }
  command.action(async (name: string, options: SettingOptions & { readonly namespace?: string }) => {
    const { namespace } = options;
    await print(
      session,
      await session.withClient((client) => client.logs.create(name, { namespace, settings: settingsOf(options) })),
    );
  });
}

interface ListOptions {
  readonly limit?: number;
  readonly namespace?: string;
  readonly name?: string;
}

function addList(log: Command, session: Session): void {
  log
    .command("list")
    .description("list event logs by namespace and name")
    .addOption(new Option("--limit <N>", "stop after this many").argParser(parsePositiveCount))
    .option("--namespace <NAMESPACE>", "only logs of this namespace")
    .option("--name <NAME>", "only logs with this name")
    .action(async ({ limit = Number.POSITIVE_INFINITY, namespace, name }: ListOptions) => {
      const logs = await session.withClient(async (client) => {
        const found: LogInfo[] = [];
        for await (const page of client.logs.pages({ namespace, name })) {
          found.push(...page);
          if (found.length >= limit) {
            break;
          }
        }
        return found.slice(0, limit);
      });
      await session.print({ document: { logs: logs.map(logDocument) }, shown: logTable(logs) });
    });
}

function addDescribe(log: Command, session: Session): void {
  log
    .command("describe <LOG>")
    .description("show an event log, given as NAMESPACE/NAME or by its id; NAME is enough if only one namespace has it")
    .action(async (text: string) => {
      await print(
        session,
        await session.withClient(async (client) => client.logs.describe(await findLogId(client, text))),
      );
    });
}

function addSettings(log: Command, session: Session): void {
  const command = log
    .command("settings <LOG>")
    .description("change settings of an event log (needs its creator or an admin)");
  for (const option of settingOptions()) {
    command.addOption(option);
  }
  command.action(async (text: string, options: SettingOptions) => {
    await print(
      session,
      await session.withClient(async (client) =>
        client.logs.updateSettings(await findLogId(client, text), settingsOf(options)),
      ),
    );
  });
}

function addDelete(log: Command, session: Session): void {
  log
    .command("delete <LOG>")
    .description("delete an event log and its events, at once and for ever (needs its creator or an admin)")
    .action(async (text: string) => {
      const logId = await session.withClient(async (client) => {
        const id = await findLogId(client, text);
        await client.logs.delete(id);
        return id;
      });
      await session.print({
        document: { log_id: logId, deleted: true },
        shown: { columns: ["DELETED"], rows: [[logId]] },
      });
    });
}

function settingOptions(): readonly Option[] {
  const orNone =
    (parse: (text: string) => number) =>
    (text: string): Setting =>
      text === NOT_SET ? NOT_SET : parse(text);
  return [
    new Option(
      "--duplicate-window <DURATION>",
      "how long keys are remembered; 0 = not at all, none = the cluster's default",
    ).argParser(orNone((text) => (text === "0" ? parseCount(text) : parseDurationSeconds(text)))),
    new Option("--max-age <DURATION>", "remove events that are older; none = never").argParser(
      orNone(parseDurationSeconds),
    ),
    new Option("--max-bytes <SIZE>", "remove the oldest events beyond this size; none = never").argParser(
      orNone(parseSize),
    ),
  ];
}

function settingsOf({ duplicateWindow, maxAge, maxBytes }: SettingOptions): LogSettings {
  const given = (setting: Setting | undefined) => (setting === NOT_SET ? null : setting);
  return {
    duplicateWindowSeconds: given(duplicateWindow),
    retentionMaxAgeSeconds: given(maxAge),
    retentionMaxBytes: given(maxBytes),
  };
}

async function print(session: Session, log: LogInfo): Promise<void> {
  await session.print({ document: logDocument(log), shown: logTable([log]) });
}

function logDocument({ settings, ...log }: LogInfo): object {
  return {
    log_id: log.logId,
    name: log.name,
    namespace: log.namespace,
    first_sequence: log.firstSequence,
    last_sequence: log.lastSequence,
    event_count: log.eventCount,
    size_bytes: log.sizeBytes,
    created_at: new Date(log.createdAtMs).toISOString(),
    created_by: log.createdBy,
    settings: {
      "queue.duplicate_window_secs": settings.duplicateWindowSeconds,
      "retention.max_age_secs": settings.retentionMaxAgeSeconds,
      "retention.max_bytes": settings.retentionMaxBytes,
    },
  };
}

function logTable(logs: readonly LogInfo[]) {
  return {
    columns: ["LOG", "NAME", "NAMESPACE", "EVENTS", "LAST", "SIZE"],
    rows: logs.map(({ logId, name, namespace, eventCount, lastSequence, sizeBytes }) => [
      logId,
      escapeControls(name),
      namespace,
      String(eventCount),
      String(lastSequence),
      formatSize(sizeBytes),
    ]),
  };
}
