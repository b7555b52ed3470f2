/** Event logs over gRPC. */

import type { Example, JsonObject } from "./example.ts";

const LOG = "3f0c8a52-6d1e-8b9a-8100-000000000041";

function log(changes: JsonObject): JsonObject {
  return {
    logId: LOG,
    name: "payments",
    namespace: "shop",
    firstSequence: "1",
    createdAtMs: "1795719584327",
    createdBy: "cbf816ea-56f5-4410-a162-189526f00a62",
    ...changes,
  };
}

const WITH_EVENTS = { lastSequence: "3", eventCount: "3", sizeBytes: "20" };

export const EVENT_LOG_SERVICE: readonly Example[] = [
  {
    kind: "grpc",
    method: "EventLogService/CreateLog",
    request: { name: "payments", namespace: "shop", settings: { "retention.max_bytes": "1000000" } },
    answers: [{ log: log({ settings: { "retention.max_bytes": "1000000" } }), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/AppendEvent",
    request: { logId: LOG, payload: "YSBwYXltZW50", idempotencyKey: "payment-1" },
    answers: [{ sequence: "1", revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/AppendEvent",
    about: "The log has more events than the request expects.",
    request: { logId: LOG, payload: "YSBwYXltZW50", expectedSequence: "0" },
    answers: [],
    refusal: {
      code: "FAILED_PRECONDITION",
      reason: "SEQUENCE_CONFLICT",
      message: `the expected sequence is 0, but the last one of event log ${LOG} is 1`,
    },
  },
  {
    kind: "grpc",
    method: "EventLogService/AppendEvents",
    request: { logId: LOG, payloads: ["dHdv", "dGhyZWUuLi4="], idempotencyKey: "payment-2" },
    answers: [{ runs: [{ firstSequence: "2", count: "2" }], lastSequence: "3", revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/ReadEvents",
    request: { logId: LOG, fromSequence: "3", waitSeconds: "10" },
    answers: [
      {
        events: [
          { sequence: "3", appendedAtMs: "1795719584392", payload: "dGhyZWUuLi4=", idempotencyKey: "payment-2:1" },
        ],
        lastSequence: "3",
        revision: "19",
      },
    ],
  },
  {
    kind: "grpc",
    method: "EventLogService/TailEvents",
    request: { logId: LOG, fromSequence: "3" },
    answers: [
      { created: true, lastSequence: "3" },
      {
        events: [
          { sequence: "3", appendedAtMs: "1795719584392", payload: "dGhyZWUuLi4=", idempotencyKey: "payment-2:1" },
        ],
        lastSequence: "3",
      },
    ],
  },
  {
    kind: "grpc",
    method: "EventLogService/ListLogs",
    request: { namespace: "shop", name: "payments" },
    answers: [{ logs: [log({ ...WITH_EVENTS, settings: { "retention.max_bytes": "1000000" } })], revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/UpdateLog",
    request: {
      logId: LOG,
      settings: { "retention.max_age_secs": "86400" },
      unsetSettings: ["retention.max_bytes"],
    },
    answers: [{ log: log({ ...WITH_EVENTS, settings: { "retention.max_age_secs": "86400" } }), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/GetLog",
    request: { logId: LOG },
    answers: [{ log: log({ ...WITH_EVENTS, settings: { "retention.max_age_secs": "86400" } }), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "EventLogService/DeleteLog",
    request: { logId: LOG },
    answers: [{ revision: "19" }],
  },
];
