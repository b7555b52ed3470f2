/** The routes of event logs: GET and POST of /logs; GET, PATCH and DELETE of one log; and the routes of its events. */

import type { LogBody, LogsBody } from "@quoin/proto";
import type { Scheduler } from "../../replica/index.ts";
import type { DeletedLogMessage, EventLogMethods } from "../methods/index.ts";
import { eventRoutes } from "./event-routes.ts";
import { CreateLogBody, DeletedLogSchema, LogSchema, LogsSchema, UpdateLogBody } from "./log-schemas.ts";
import { methodAnswer } from "./method-answer.ts";
import { cursor, limit } from "./page-parameters.ts";
import { optional, required, uuid } from "./parameters.ts";
import { jsonBody, type Route, route } from "./route.ts";

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
      const request = { ...query, cursor: query.cursor === "" ? null : query.cursor };
      return { json: await methodAnswer<LogsBody>((reply) => methods.listLogs(call, request, reply)) };
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
      const given = settings === null || settings === undefined ? null : new Map(Object.entries(settings));
      const request = { name, namespace: namespace ?? null, settings: given };
      return { json: await methodAnswer<LogBody>((reply) => methods.createLog(call, request, reply)) };
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
    handle: async (call, { path: { log_id } }) => ({
      json: await methodAnswer<LogBody>((reply) => methods.describeLog(call, log_id, reply)),
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
      const request = { logId, settings: new Map(Object.entries(body.settings)) };
      return { json: await methodAnswer<LogBody>((reply) => methods.updateLogSettings(call, request, reply)) };
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
    handle: async (call, { path: { log_id } }) => ({
      json: await methodAnswer<DeletedLogMessage>((reply) => methods.deleteLog(call, log_id, reply)),
    }),
  });
}
