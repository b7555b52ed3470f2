/** `quoinctl log …` */

import type { LogInfo, LogSettings } from "../../index.ts";
import { type OptionsOf, option } from "../arguments/index.ts";
import { command, commandGroup, itemsOf, type Session } from "../session/index.ts";
import { formatSize, parseDurationSeconds, parsePositiveCount, parseSize } from "../text/index.ts";
import { LOG_APPEND_COMMANDS } from "./log-append-commands.ts";
import { findLogId } from "./log-argument.ts";
import { LOG_READ_COMMANDS } from "./log-read-commands.ts";

/** Removes a setting. */
const NOT_SET = "none";

const orNone = (parse: (text: string) => number) => (text: string) => (text === NOT_SET ? NOT_SET : parse(text));

const SETTING_OPTIONS = {
  duplicateWindow: option(
    "<DURATION>",
    "how long keys are remembered; 0 = not at all, none = the cluster's default",
    orNone((text) => (text === "0" ? 0 : parseDurationSeconds(text))),
  ),
  maxAge: option("<DURATION>", "remove events that are older; none = never", orNone(parseDurationSeconds)),
  maxBytes: option("<SIZE>", "remove the oldest events beyond this size; none = never", orNone(parseSize)),
};

const AFTER_HELP = `
Examples:

  quoinctl log create orders --max-age 168h
  quoinctl log append default/orders '{"id": 7}' --idempotency-key order-7
  quoinctl log read orders --from 1 --limit 10 -o json
  quoinctl log tail orders`;

const CREATE = command("create <NAME>", {
  description: "create an event log, and print its id",
  options: {
    namespace: option("<NAMESPACE>", "the namespace of the log (default: default)"),
    ...SETTING_OPTIONS,
  },
  run: async (session, name, options) => {
    const { namespace } = options;
    await print(
      session,
      await session.withClient((client) => client.logs.create(name, { namespace, settings: settingsOf(options) })),
    );
  },
});

const LIST = command("list", {
  description: "list event logs by namespace and name",
  options: {
    limit: option("<N>", "stop after this many", parsePositiveCount),
    namespace: option("<NAMESPACE>", "only logs of this namespace"),
    name: option("<NAME>", "only logs with this name"),
  },
  run: async (session, { limit, namespace, name }) => {
    const logs = await session.withClient((client) =>
      itemsOf(client.logs.pages({ namespace, name }), (page) => page, limit),
    );
    await session.print({ document: { logs: logs.map(logDocument) }, shown: logTable(logs) });
  },
});

const DESCRIBE = command("describe <LOG>", {
  description: "show an event log, given as NAMESPACE/NAME or by its id; NAME is enough if only one namespace has it",
  run: async (session, text) => {
    await print(
      session,
      await session.withClient(async (client) => client.logs.describe(await findLogId(client, text))),
    );
  },
});

const SETTINGS = command("settings <LOG>", {
  description: "change settings of an event log (needs its creator or an admin)",
  options: SETTING_OPTIONS,
  run: async (session, text, options) => {
    await print(
      session,
      await session.withClient(async (client) =>
        client.logs.updateSettings(await findLogId(client, text), settingsOf(options)),
      ),
    );
  },
});

const DELETE = command("delete <LOG>", {
  description: "delete an event log and its events, at once and for ever (needs its creator or an admin)",
  run: async (session, text) => {
    const logId = await session.withClient(async (client) => {
      const id = await findLogId(client, text);
      await client.logs.delete(id);
      return id;
    });
    await session.print({
      document: { log_id: logId, deleted: true },
      shown: { columns: ["DELETED"], rows: [[logId]] },
    });
  },
});

/** The commands of the group. */
export const LOG_COMMANDS = commandGroup(AFTER_HELP, [
  CREATE,
  LIST,
  DESCRIBE,
  SETTINGS,
  DELETE,
  ...LOG_APPEND_COMMANDS,
  ...LOG_READ_COMMANDS,
]);

function settingsOf({ duplicateWindow, maxAge, maxBytes }: OptionsOf<typeof SETTING_OPTIONS>): LogSettings {
  const given = (setting: number | typeof NOT_SET | undefined) => (setting === NOT_SET ? null : setting);
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
      name,
      namespace,
      eventCount,
      lastSequence,
      formatSize(sizeBytes),
    ]),
  };
}
