/** The routes of event logs: GET and POST of /logs; GET, PATCH and DELETE of one log; and the routes of its events. */

import { type LogBody, ReadConsistency } from "@quoin/proto";
import type { Scheduler } from "../../../replica/index.ts";
import { type DeleteLogResult, derivedIdText } from "../../../state/index.ts";
import type { DescribedLog, EventLogMethods, ListedLogs, Reply, SettingsFields } from "../../methods/index.ts";
import { methodAnswer } from "../answers/index.ts";
import { cursor, limit, optional, required, uuid } from "../requests/index.ts";
import { jsonBody, type Route, route } from "../routing/index.ts";
import { eventRoutes } from "./event-routes.ts";
import {
  CreateLogBody,
  DeletedLogSchema,
  LogSchema,
  LogsSchema,
  logBody,
  logsBody,
  UpdateLogBody,
} from "./log-schemas.ts";

const { LINEARIZABLE } = ReadConsistency;
const LOGS = "/logs";
const LOG = "/logs/{log_id}";
const path = { log_id: uuid("The id of the log") };

/** The routes of event logs. */
export function logRoutes(methods: EventLogMethods, scheduler: Pick<Scheduler, "every">): readonly Route[] {
  return [
    listLogsRoute(methods),
    createLogRoute(methods),
    describeLogRoute(methods),
    updateLogRoute(methods),
    deleteLogRoute(methods),
    ...eventRoutes(methods, scheduler),
  ];
}

function listLogsRoute(methods: EventLogMethods): Route {
  const text = (description: string) =>
    optional(
      required(description, { type: "string" }, (given) => given),
      null,
    );
  return route({
    method: "GET",
    path: LOGS,
    operationId: "listLogs",
    summary: "List the event logs of your namespaces, by namespace and name",
    access: "read",
    query: {
      limit,
      cursor,
      name: text("Only logs with this name: at most one in each namespace"),
      namespace: text("Only logs of this namespace"),
    },
    success: {
      status: 200,
      description: "A page of event logs; an empty page may not be the last",
      schema: LogsSchema,
    },
    errors: ["namespace_denied"],
    handle: async (call, { query }) => {
      const { namespace, name, limit: pageSize, cursor: pageToken } = query;
      const request = { namespace, name, pageSize, pageToken, consistency: LINEARIZABLE };
      return { json: logsBody(await methodAnswer<ListedLogs>((reply) => methods.listLogs(call, request, reply))) };
    },
  });
}

function createLogRoute(methods: EventLogMethods): Route {
  return route({
    method: "POST",
    path: LOGS,
    operationId: "createLog",
    summary: "Create an event log",
    access: "write",
    body: jsonBody(CreateLogBody),
    success: { status: 201, description: "The event log", schema: LogSchema },
    errors: ["namespace_denied", "not_found", "already_exists", "storage_full"],
    handle: async (call, { body: { name, namespace, settings } }) => {
      const request = { name, namespace: namespace ?? null, settings: givenSettings(settings) };
      return { json: await logAnswer((reply) => methods.createLog(call, request, reply)) };
    },
  });
}

function describeLogRoute(methods: EventLogMethods): Route {
  return route({
    method: "GET",
    path: LOG,
    operationId: "describeLog",
    summary: "Describe an event log",
    access: "read",
    pathParameters: path,
    success: { status: 200, description: "The event log", schema: LogSchema },
    errors: ["log_not_found"],
    handle: async (call, { path: { log_id: logId } }) => ({
      json: await logAnswer((reply) => methods.getLog(call, { logId, consistency: LINEARIZABLE }, reply)),
    }),
  });
}

function updateLogRoute(methods: EventLogMethods): Route {
  return route({
    method: "PATCH",
    path: LOG,
    operationId: "updateLogSettings",
    summary: "Change settings of an event log, as its creator or an admin",
    access: "write",
    pathParameters: path,
    body: jsonBody(UpdateLogBody),
    success: { status: 200, description: "The event log after the change", schema: LogSchema },
    errors: ["log_not_found"],
    find: (call, { path }) => methodAnswer<Uint8Array>((reply) => methods.findManageable(call, path.log_id, reply)),
    handle: async (call, { body }, logId) => {
      const request = { logId, settings: () => givenSettings(body.settings) };
      return { json: await logAnswer((reply) => methods.updateLog(call, request, reply)) };
    },
  });
}

function deleteLogRoute(methods: EventLogMethods): Route {
  return route({
    method: "DELETE",
    path: LOG,
    operationId: "deleteLog",
    summary: "Delete an event log and its events, at once and permanently, as its creator or an admin",
    access: "write",
    pathParameters: path,
    success: { status: 200, description: "The event log is deleted", schema: DeletedLogSchema },
    errors: ["log_not_found"],
    handle: async (call, { path: { log_id } }) => {
      const { logId } = await methodAnswer<DeleteLogResult>((reply) => methods.deleteLog(call, log_id, reply));
      return { json: { log_id: derivedIdText(logId), deleted: true } as const };
    },
  });
}

async function logAnswer(call: (reply: Reply<DescribedLog>) => void): Promise<LogBody> {
  return logBody((await methodAnswer<DescribedLog>(call)).log);
}

/** A setting that is undefined is not given. */
function givenSettings(settings: Readonly<Record<string, number | null | undefined>> | null = null): SettingsFields {
  const given = Object.entries(settings ?? {}).filter(
    (entry): entry is [string, number | null] => entry[1] !== undefined,
  );
  return new Map(given);
}
