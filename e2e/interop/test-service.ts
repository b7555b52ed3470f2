/**
 * grpc.testing.TestService on the member's own gRPC host, so that gRPC's own interop client can judge that host. Its
 * handlers have the form of libraries, such as health and reflection: they can receive streams of messages. Such calls
 * cannot send their own metadata before the first message.
 */
import { type EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { MethodDefinition, ServiceDefinition, sendUnaryData, UntypedServiceImplementation } from "@grpc/grpc-js";
import { CallAdmission, CallObserver } from "../../node/src/api/calls/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../../node/src/api/connections/index.ts";
import { QuoinHost } from "../../node/src/api/quoin-host/index.ts";
import { systemClock } from "../../node/src/replica/index.ts";
import { RequestLog } from "../../node/src/telemetry/index.ts";
import {
  readInputRequest,
  readStreamingRequest,
  readUnaryRequest,
  type TestRequest,
  writeAggregatedSize,
  writePayload,
} from "./test-messages.ts";

/** A call whose answer is a stream, as the host passes it to libraries. */
interface StreamCall extends EventEmitter {
  readonly request: TestRequest;
  write(response: Buffer): void;
  end(): void;
}

const SERVICE = "grpc.testing.TestService";
const GRACE_MS = 1_000;
const asIs = (bytes: Buffer): Buffer => bytes;
const nothing = (): void => undefined;

function method(
  name: string,
  requestDeserialize: (bytes: Buffer) => TestRequest,
  [requestStream, responseStream]: readonly [boolean, boolean],
): MethodDefinition<TestRequest, Buffer> {
  const path = `/${SERVICE}/${name}`;
  const requestSerialize = (): Buffer => Buffer.alloc(0);
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize,
    requestDeserialize,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

const UNARY = [false, false] as const;
const DEFINITION: ServiceDefinition = {
  emptyCall: method("EmptyCall", readUnaryRequest, UNARY),
  unaryCall: method("UnaryCall", readUnaryRequest, UNARY),
  streamingOutputCall: method("StreamingOutputCall", readStreamingRequest, [false, true]),
  streamingInputCall: method("StreamingInputCall", readInputRequest, [true, false]),
  fullDuplexCall: method("FullDuplexCall", readStreamingRequest, [true, true]),
};

const HANDLERS = {
  emptyCall: (_call: object, respond: sendUnaryData<Buffer>) => respond(null, writePayload(null)),
  unaryCall: ({ request }: { readonly request: TestRequest }, respond: sendUnaryData<Buffer>) => {
    if (request.status === null) {
      respond(null, writePayload(request.sizes[0] ?? 0));
    } else {
      respond({ code: request.status.code, details: request.status.message });
    }
  },
  streamingOutputCall: (call: StreamCall) => {
    sendAll(call, call.request);
    call.end();
  },
  streamingInputCall: (call: StreamCall) => {
    let bytes = 0;
    call.on("data", (request: TestRequest) => {
      bytes += request.payloadBytes;
    });
    call.on("end", () => {
      call.write(writeAggregatedSize(bytes));
      call.end();
    });
  },
  fullDuplexCall: (call: StreamCall) => {
    let hasFailed = false;
    call.on("data", (request: TestRequest) => {
      if (request.status !== null) {
        hasFailed = true;
        call.emit("error", { code: request.status.code, details: request.status.message });
      } else {
        sendAll(call, request);
      }
    });
    call.on("end", () => {
      if (!hasFailed) {
        call.end();
      }
    });
  },
};

function sendAll(call: StreamCall, { sizes }: TestRequest): void {
  for (const size of sizes) {
    call.write(writePayload(size));
  }
}

export class TestService {
  readonly #host: QuoinHost;
  readonly #intake: CallAdmission<never>;
  readonly #listener: Server;

  private constructor() {
    const monotonicMs = (): number => performance.now();
    const logger = { error: console.error, warn: console.error };
    const requestLog = new RequestLog({ debug: nothing, warn: nothing, isLevelEnabled: () => false }, 0, monotonicMs);
    const noTokens = (): never => {
      throw new Error("no method of the test service needs a token");
    };
    this.#intake = new CallAdmission({
      ...{ port: "test", requestId: "optional", limits: DEFAULT_CLIENT_LIMITS, clock: systemClock, logger },
      access: { authenticate: noTokens, authorize: noTokens, recheck: noTokens },
    });
    this.#host = new QuoinHost({
      ...{
        callAdmission: this.#intake,
        observer: new CallObserver(requestLog, monotonicMs),
        leaderEndpoint: () => null,
      },
      ...{ log: logger, portName: "test", monotonicMs },
      connections: { slowDown: nothing, verified: nothing },
    });
    const handlers = HANDLERS as unknown as UntypedServiceImplementation;
    this.#host.addLibrary(Object.values(DEFINITION), async () => [{ definition: DEFINITION, handlers }]);
    this.#host.begin(null);
    this.#listener = createServer((socket) => this.#host.accept(socket));
  }

  /** Listens on a free loopback port. */
  static async start(): Promise<TestService> {
    const service = new TestService();
    service.#listener.listen(0, "127.0.0.1");
    await once(service.#listener, "listening");
    return service;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#listener.close();
    await this.#host.stop(GRACE_MS);
    this.#intake.stop();
  }
}
