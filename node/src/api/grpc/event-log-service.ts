/** EventLogService on a server. */

import {
  type AppendEventRequest,
  type AppendEventsRequest,
  type AppendEventsResponse,
  type EventLog as EventLogMessage,
  type LogEvent as LogEventMessage,
  serviceDefinitions,
  TailEventsResponse,
} from "@quoin/proto";
import type { Caller } from "../../access/index.ts";
import { derivedIdText, type EventLog, eventCountOf, type LogEvent, Payloads } from "../../state/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import {
  type Appended,
  type AppendFields,
  type AppendTarget,
  appendGuardField,
  attempt,
  batchKeyField,
  changedSettingsField,
  type DescribedLog,
  type EventLogMethods,
  eventKeyField,
  expectedSequenceField,
  listedPayloadsField,
  mapReply,
  namedSettings,
  type OpenTail,
  type ResponseStream,
  runMessages,
  type SettingsFields,
  waitSecondsField,
} from "../methods/index.ts";

const MS_PER_SECOND = 1_000;

export function eventLogService(port: PortContext<Caller>, methods: EventLogMethods): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.EventLogService, {
    createLog: (call, { name, namespace, settings }, reply) =>
      methods.createLog(
        call,
        { name, namespace: namespace || null, settings: givenSettings(settings) },
        mapReply(reply, described),
      ),
    getLog: (call, request, reply) => methods.getLog(call, request, mapReply(reply, described)),
    listLogs: (call, { name, namespace, ...page }, reply) =>
      methods.listLogs(
        call,
        { ...page, name: name || null, namespace: namespace || null },
        mapReply(reply, ({ logs, nextPageToken, revision }) => ({
          logs: logs.map(logMessage),
          nextPageToken,
          revision: BigInt(revision),
        })),
      ),
    updateLog: (call, { logId, settings, unsetSettings }, reply) => {
      const changes = () => changedSettingsField(givenSettings(settings), unsetSettings);
      methods.updateLog(call, { logId, settings: changes }, mapReply(reply, described));
    },
    deleteLog: (call, { logId }, reply) =>
      methods.deleteLog(
        call,
        logId,
        mapReply(reply, ({ revision }) => ({ revision: BigInt(revision) })),
      ),
    appendEvent: {
      carriesData: true,
      handle: (call, request, reply) =>
        methods.append(
          call,
          { ...targetOf(request), fields: () => eventFields(request) },
          mapReply(reply, ({ lastSequence, revision }) => ({
            sequence: BigInt(lastSequence),
            revision: BigInt(revision),
          })),
        ),
    },
    appendEvents: {
      carriesData: true,
      handle: (call, request, reply) =>
        methods.append(
          call,
          { ...targetOf(request), fields: () => batchFields(request) },
          mapReply(reply, appendedMessage),
        ),
    },
    readEvents: {
      waitMs: ({ waitSeconds }) => (waitSeconds > 0n ? waitSecondsField(waitSeconds) * MS_PER_SECOND : 0),
      handle: (call, request, reply) =>
        methods.readEvents(
          call,
          request,
          mapReply(reply, ({ events, log, revision }) => ({
            events: events.map(eventMessage),
            lastSequence: BigInt(log.lastSequence),
            revision: BigInt(revision),
          })),
        ),
    },
    tailEvents: (call, request, stream) =>
      methods.tailEvents(call, request, (tail) => {
        if (tail instanceof Error) {
          stream.fail(tail);
        } else {
          follow(tail, stream);
        }
      }),
  });
}

/** Sends the first message, and then the events. */
function follow({ log, begin }: OpenTail, stream: ResponseStream): void {
  if (stream.hasEnded) {
    return;
  }
  const send = (message: TailEventsResponse, taken: () => void): void => {
    // The hub serves other streams in the same turn, so an error here must end this stream only.
    const bytes = attempt(() => TailEventsResponse.encode(message).finish());
    if (bytes instanceof Error) {
      stream.fail(bytes);
    } else {
      stream.send(bytes, taken);
    }
  };
  const began = attempt(() => {
    begin({
      send: ({ events, log: { lastSequence } }, taken) =>
        send({ events: events.map(eventMessage), created: false, lastSequence: BigInt(lastSequence) }, taken),
      fail: (error) => stream.fail(error),
      onOver: (callback) => stream.onEnded(callback),
    });
    send({ events: [], created: true, lastSequence: BigInt(log.lastSequence) }, () => undefined);
  });
  if (began instanceof Error) {
    stream.fail(began);
  }
}

function targetOf({ logId, guard }: AppendEventRequest | AppendEventsRequest): AppendTarget {
  return { logId, guardNamespace: guard?.namespace ?? null };
}

function eventFields({ payload, idempotencyKey, expectedSequence, guard }: AppendEventRequest): AppendFields {
  return {
    payloads: Payloads.of([payload]),
    isBatch: false,
    idempotencyKey: eventKeyField(idempotencyKey),
    expectedSequence: expectedSequenceField(expectedSequence),
    ...appendGuardField(guard),
  };
}

function batchFields({ payloads, idempotencyKey, expectedSequence, guard }: AppendEventsRequest): AppendFields {
  return {
    payloads: Payloads.of(listedPayloadsField(payloads)),
    isBatch: true,
    idempotencyKey: batchKeyField(idempotencyKey, payloads.length),
    expectedSequence: expectedSequenceField(expectedSequence),
    ...appendGuardField(guard),
  };
}

function givenSettings(settings: ReadonlyMap<string, bigint>): SettingsFields {
  return new Map(settings.entries().map(([name, value]) => [name, Number(value)]));
}

function described({ log, revision }: DescribedLog) {
  return { log: logMessage(log), revision: BigInt(revision) };
}

function logMessage(log: EventLog): EventLogMessage {
  const settings = namedSettings(log.settings).flatMap(([name, value]) =>
    value === null ? [] : [[name, BigInt(value)] as const],
  );
  return {
    logId: derivedIdText(log.logId),
    name: log.name,
    namespace: log.namespace,
    firstSequence: BigInt(log.firstSequence),
    lastSequence: BigInt(log.lastSequence),
    eventCount: BigInt(eventCountOf(log)),
    sizeBytes: BigInt(log.sizeBytes),
    createdAtMs: BigInt(log.createdAtMs),
    createdBy: log.createdBy,
    settings: new Map(settings),
  };
}

function appendedMessage({ runs, lastSequence, hasRuns, revision }: Appended): AppendEventsResponse {
  return {
    runs: runMessages(runs),
    lastSequence: BigInt(lastSequence),
    runsOmitted: !hasRuns,
    revision: BigInt(revision),
  };
}

function eventMessage({ sequence, timestampMs, payload, idempotencyKey }: LogEvent): LogEventMessage {
  return {
    sequence: BigInt(sequence),
    appendedAtMs: BigInt(timestampMs),
    payload,
    idempotencyKey: idempotencyKey ?? "",
  };
}
