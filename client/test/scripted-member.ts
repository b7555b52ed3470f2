/**
 * A gRPC server with the real contract and scripted answers, so that a spec decides what goes wrong and when. It
 * listens on its own loopback port, decodes requests strictly, and records every call.
 */

import * as grpc from "@grpc/grpc-js";
import {
  decodeRequest,
  encodeStatusDetails,
  type MessageCodec,
  rawMethods,
  STATUS_DETAILS_TRAILER,
  serviceDefinitions,
} from "@quoin/proto";

/** A refusal from a script, with the trailers of the service. */
export interface Refusal {
  readonly code: keyof typeof grpc.status;
  readonly message?: string;
  readonly reason?: string;
  readonly outcome?: "not-executed" | "unknown";
  readonly leaderEndpoint?: string;
  readonly details?: ReadonlyMap<string, string>;
  readonly retryDelayMs?: number;
  /** Sent instead of well-formed details. */
  readonly rawDetails?: Buffer;
}

class RefusalError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message ?? "refused by script");
    this.refusal = refusal;
  }
}

/** Refuses the current call of a script. */
export function refuse(refusal: Refusal): never {
  throw new RefusalError(refusal);
}

/** Answers exchanges of API keys with the tokens `token-1`, `token-2` and so on, each for an hour. */
export function issueTokens(): NonNullable<Scripts["exchangeToken"]> {
  let count = 0;
  return () => {
    count += 1;
    return { accessToken: `token-${count}`, expiresInSeconds: 3_600n };
  };
}

/** A call as it arrived. */
export interface ReceivedCall {
  readonly method: string;
  readonly request: unknown;
  readonly authorization: readonly unknown[];
  readonly apiVersion: readonly unknown[];
  readonly requestId: readonly unknown[];
  /** The headers of its trace. */
  readonly traceparent: readonly unknown[];
  readonly tracestate: readonly unknown[];
  /** Aborted when the caller gives up. */
  readonly cancelled: AbortSignal;
  /** Sends a header before the answer. */
  sendHeader(name: string, value: string): void;
}

type Services = typeof serviceDefinitions;
/** Every method of the contract; no two services have a method of the same name. */
type Methods = Services["KeyValueService"] &
  Services["LockService"] &
  Services["MemoryService"] &
  Services["SessionService"] &
  Services["TransactionService"] &
  Services["WatchService"] &
  Services["ClusterService"] &
  Services["ClusterAdminService"] &
  Services["EventLogService"] &
  Services["AccountService"];
type NameOf<IsStream extends boolean> = {
  [Name in keyof Methods]: Methods[Name]["responseStream"] extends IsStream ? Name : never;
}[keyof Methods];
type UnaryName = NameOf<false>;
type StreamName = NameOf<true>;
type RequestOf<Name extends keyof Methods> = ReturnType<Methods[Name]["requestCodec"]["decode"]>;
type PartialResponseOf<Name extends keyof Methods> = Parameters<Methods[Name]["responseCodec"]["fromPartial"]>[0];
type Answered<Response> = Response | Promise<Response>;

/** The answer of each method: omitted fields have their default. */
type Scripts = {
  -readonly [Name in UnaryName]?: (request: RequestOf<Name>, call: ReceivedCall) => Answered<PartialResponseOf<Name>>;
};

/** A stream of answers that a script controls. */
export interface ScriptedStream<Name extends StreamName> {
  /** Sends a message; omitted fields have their default. */
  send(message: PartialResponseOf<Name>): void;
  /** How many messages the other side has not taken yet. */
  readonly untaken: number;
  /** Ends the stream with a refusal. */
  fail(refusal: Refusal): void;
  /** Ends the stream without a refusal, which the service never does. */
  end(): void;
}

/** The messages of each stream after its request. An error from a script ends the stream. */
type StreamScripts = {
  -readonly [Name in StreamName]?: (
    request: RequestOf<Name>,
    stream: ScriptedStream<Name>,
    call: ReceivedCall,
  ) => void | Promise<void>;
};

interface ResponseCodec extends MessageCodec<unknown> {
  fromPartial(partial: object): unknown;
}

/** How to listen. */
interface ScriptedMemberOptions {
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** A port that was used before; default: a new one. */
  readonly port?: number;
}

/** A member with scripted answers. A method without a script is UNIMPLEMENTED. */
export class ScriptedMember {
  readonly endpoint: string;
  readonly calls: ReceivedCall[] = [];
  scripts: Scripts;
  streams: StreamScripts = {};
  readonly #server: grpc.Server;

  private constructor(server: grpc.Server, scripts: Scripts, port: number) {
    this.#server = server;
    this.scripts = scripts;
    this.endpoint = `127.0.0.1:${port}`;
  }

  /** The newest request. */
  get request(): unknown {
    return this.calls.at(-1)?.request;
  }

  static async start(scripts: Scripts = {}, { tls, port = 0 }: ScriptedMemberOptions = {}): Promise<ScriptedMember> {
    const server = new grpc.Server();
    const box: { member?: ScriptedMember } = {};
    for (const definition of Object.values(serviceDefinitions)) {
      const handlers = Object.entries(definition).map(([name, { responseStream, requestCodec, responseCodec }]) => [
        name,
        responseStream
          ? streamHandler(box, name as StreamName, requestCodec, responseCodec as ResponseCodec)
          : handler(box, name as UnaryName, requestCodec, responseCodec as ResponseCodec),
      ]);
      server.addService(rawMethods<grpc.ServiceDefinition>(definition), Object.fromEntries(handlers));
    }
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, serverCredentials(tls), (error, value) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    box.member = new ScriptedMember(server, scripts, bound);
    return box.member;
  }

  /** The calls of one method. */
  callsOf(method: keyof Methods): readonly ReceivedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Stops at once, and breaks all connections. */
  stop(): void {
    this.#server.forceShutdown();
  }
}

function serverCredentials(tls: ScriptedMemberOptions["tls"]): grpc.ServerCredentials {
  if (tls === undefined) {
    return grpc.ServerCredentials.createInsecure();
  }
  const certificate = Buffer.from(tls.certificate);
  // The certificate of the specs is self-signed, so it is its own authority: clients must use the same one.
  return grpc.ServerCredentials.createSsl(
    certificate,
    [{ private_key: Buffer.from(tls.key), cert_chain: certificate }],
    true,
  );
}

function handler(
  box: { member?: ScriptedMember },
  name: UnaryName,
  request: MessageCodec<unknown>,
  response: ResponseCodec,
): grpc.handleUnaryCall<Buffer, unknown> {
  return (call, callback) => {
    const received = receive(name, request, call);
    const member = box.member!;
    member.calls.push(received);
    const script = member.scripts[name] as ((request: unknown, call: ReceivedCall) => unknown) | undefined;
    Promise.resolve()
      .then(() => script?.(received.request, received) ?? refuse({ code: "UNIMPLEMENTED" }))
      .then(
        (answer) => callback(null, response.fromPartial(answer as object)),
        (error: unknown) => callback(toStatus(error)),
      );
  };
}

function streamHandler(
  box: { member?: ScriptedMember },
  name: StreamName,
  request: MessageCodec<unknown>,
  response: ResponseCodec,
): grpc.handleServerStreamingCall<Buffer, Buffer> {
  return (call) => {
    const received = receive(name, request, call);
    const member = box.member!;
    member.calls.push(received);
    const fail = (error: unknown) => call.emit("error", toStatus(error));
    let untaken = 0;
    const stream = {
      get untaken() {
        return untaken;
      },
      send: (message: object) => {
        untaken += 1;
        call.write(Buffer.from(response.encode(response.fromPartial(message)).finish()), () => {
          untaken -= 1;
        });
      },
      fail: (refusal: Refusal) => fail(new RefusalError(refusal)),
      end: () => call.end(),
    };
    const script = member.streams[name] as
      | ((request: unknown, stream: object, call: ReceivedCall) => void | Promise<void>)
      | undefined;
    Promise.resolve()
      .then(() =>
        script === undefined ? refuse({ code: "UNIMPLEMENTED" }) : script(received.request, stream, received),
      )
      .catch(fail);
  };
}

function receive(
  method: string,
  codec: MessageCodec<unknown>,
  call: Pick<grpc.ServerUnaryCall<Buffer, unknown>, "request" | "metadata" | "sendMetadata"> & {
    once(event: "cancelled", listener: () => void): unknown;
  },
): ReceivedCall {
  const cancellation = new AbortController();
  call.once("cancelled", () => cancellation.abort());
  return {
    method,
    request: decodeRequest(codec, call.request),
    authorization: call.metadata.get("authorization"),
    apiVersion: call.metadata.get("api-version"),
    requestId: call.metadata.get("request-id"),
    traceparent: call.metadata.get("traceparent"),
    tracestate: call.metadata.get("tracestate"),
    cancelled: cancellation.signal,
    sendHeader: (name, value) => {
      const header = new grpc.Metadata();
      header.set(name, value);
      call.sendMetadata(header);
    },
  };
}

function toStatus(error: unknown): Partial<grpc.StatusObject> {
  if (!(error instanceof RefusalError)) {
    return { code: grpc.status.UNKNOWN, details: `broken script: ${String(error)}` };
  }
  const { refusal, message } = error;
  const metadata = new grpc.Metadata();
  if (refusal.reason !== undefined) {
    metadata.set("error-reason", refusal.reason);
    const { reason, details = new Map(), retryDelayMs } = refusal;
    const code = grpc.status[refusal.code];
    metadata.set(
      STATUS_DETAILS_TRAILER,
      encodeStatusDetails({
        code,
        message,
        reason,
        metadata: details,
        ...(retryDelayMs === undefined ? {} : { retryDelayMs }),
      }),
    );
  }
  if (refusal.rawDetails !== undefined) {
    metadata.set(STATUS_DETAILS_TRAILER, refusal.rawDetails);
  }
  if (refusal.outcome !== undefined) {
    metadata.set("outcome", refusal.outcome);
  }
  if (refusal.leaderEndpoint !== undefined) {
    metadata.set("leader-endpoint", refusal.leaderEndpoint);
  }
  return { code: grpc.status[refusal.code], details: message, metadata };
}
