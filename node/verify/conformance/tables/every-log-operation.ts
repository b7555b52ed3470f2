/** What `every-operation.ts` requires of all operations, for those on event logs. */

import {
  appendEvent,
  appendEvents,
  type Connection,
  createdLog,
  createLog,
  deleteLog,
  getLog,
  listLogs,
  readEventPage,
  type Table,
  type TestContext,
  tailEvents,
  updateLog,
} from "../harness/index.ts";
import { ABSENT_ID, tableOf } from "./every-operation.ts";

async function newLog(context: TestContext, connection?: Connection): Promise<{ logId: string }> {
  const { logId } = await createdLog(context, {}, connection);
  return { logId };
}

/** All but CreateLog and ListLogs name a log by its id, and its namespace not at all. */
const BY_ID = {
  valid: newLog,
  invalid: { fields: { logId: "no UUID" }, field: "log_id" },
  absent: { fields: { logId: ABSENT_ID }, reason: "LOG_NOT_FOUND" },
  namespace: "absent",
  firstText: "log_id",
} as const;

export const everyLogOperation: readonly Table[] = [
  tableOf(createLog, {
    valid: async (context) => ({ namespace: context.namespace, name: context.name() }),
    invalid: { fields: { name: "" }, field: "name" },
    namespace: "default if empty",
    firstText: "name",
  }),
  tableOf(getLog, { ...BY_ID, valid: (context) => newLog(context) }),
  tableOf(listLogs, {
    valid: async ({ namespace }) => ({ namespace, pageSize: 1 }),
    invalid: { fields: { pageSize: -1 }, field: "page_size" },
    namespace: "a filter",
  }),
  tableOf(updateLog, BY_ID),
  tableOf(deleteLog, BY_ID),
  tableOf(appendEvent, { ...BY_ID, integers: ["expectedSequence", "guard.fencingToken"] }),
  tableOf(appendEvents, {
    ...BY_ID,
    valid: async (context, connection) => ({
      ...(await newLog(context, connection)),
      payloads: [Buffer.from("a")],
      idempotencyKey: "k",
    }),
    integers: ["expectedSequence", "guard.fencingToken"],
  }),
  tableOf(readEventPage, { ...BY_ID, valid: (context) => newLog(context), integers: ["fromSequence", "waitSeconds"] }),
  tableOf(tailEvents, { ...BY_ID, valid: (context) => newLog(context), integers: ["fromSequence"] }),
];
