/**
 * grpc.testing.TestService on the member's own gRPC host, so that gRPC's own interop client can judge that host. Methods
 * whose request is one message are served as those of the contract, the others as those of a library, such as
 * reflection. Calls cannot send their own metadata before the first message.
 */
import { type EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import {
  CallAdmission,
  type CallHandler,
  CallObserver,
  type CallStatus,
  plainStatus,
  type StatusCode,
  status,
} from "../../node/src/api/calls/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../../node/src/api/connections/index.ts";
import { type HostedMethod, QuoinHost } from "../../node/src/api/quoin-host/index.ts";
import { systemClock } from "../../node/src/replica/index.ts";
import { RequestLog } from "../../node/src/telemetry/index.ts";
import {
  readInputRequest,
  readStreamingRequest,
  readUnaryRequest,
  type TestRequest,
  type TestStatus,
  writeAggregatedSize,
  writePayload,
} from "./test-messages.ts";

/** A call that streams both ways, as the host passes it to libraries. */
interface StreamCall extends EventEmitter {
  write(response: Buffer): void;
  end(): void;
}

const SERVICE = "grpc.testing.TestService";
const GRACE_MS = 1_000;
const asIs = (bytes: Buffer): Buffer => bytes;
const nothing = (): void => undefined;

function definitionOf<Request>(
  name: string,
  requestDeserialize: (bytes: Buffer) => Request,
  { requestStream, responseStream }: { readonly requestStream: boolean; readonly responseStream: boolean },
) {
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

function unary(name: string, handler: CallHandler<Buffer>): HostedMethod {
  const definition = definitionOf(name, asIs, { requestStream: false, responseStream: false });
  return { definition, checks: "none", mayWait: false, handler };
}

function serverStream(name: string, handler: CallHandler<never>): HostedMethod {
  const definition = definitionOf(name, asIs, { requestStream: false, responseStream: true });
  return { definition, checks: "none", mayWait: true, handler };
}

/** The methods whose request is one message, as those of the contract. */
const METHODS: readonly HostedMethod[] = [
  unary("EmptyCall", (call) => call.answer(writePayload(null), "no")),
  unary("UnaryCall", (call, bytes) => {
    const request = readUnaryRequest(bytes);
    if (request.status === null) {
      call.answer(writePayload(request.sizes[0] ?? 0), "no");
    } else {
      call.end(statusOf(request.status));
    }
  }),
  serverStream("StreamingOutputCall", (call, bytes) => {
    const sizes = readStreamingRequest(bytes).sizes.values();
    const sendNext = (): void => {
      const { value, done } = sizes.next();
      if (done === true) {
        call.end(plainStatus(status.OK, ""));
      } else {
        call.send(writePayload(value), sendNext);
      }
    };
    sendNext();
  }),
];

/** The methods whose request is a stream, as those of libraries. */
const LIBRARY = {
  streamingInputCall: definitionOf("StreamingInputCall", readInputRequest, {
    requestStream: true,
    responseStream: false,
  }),
  fullDuplexCall: definitionOf("FullDuplexCall", readStreamingRequest, { requestStream: true, responseStream: true }),
};

const LIBRARY_HANDLERS = {
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
        for (const size of request.sizes) {
          call.write(writePayload(size));
        }
      }
    });
    call.on("end", () => {
      if (!hasFailed) {
        call.end();
      }
    });
  },
};

function statusOf({ code, message }: TestStatus): CallStatus {
  return plainStatus(code as StatusCode, message);
}

export class TestService {
  readonly #host: QuoinHost;
  readonly #callAdmission: CallAdmission<never>;
  readonly #listener: Server;

  private constructor() {
    const monotonicMs = (): number => performance.now();
    const logger = { error: console.error, warn: console.error };
    const requestLog = new RequestLog({ debug: nothing, warn: nothing, isLevelEnabled: () => false }, 0, monotonicMs);
    const noTokens = (): never => {
      throw new Error("no method of the test service needs a token");
    };
    this.#callAdmission = new CallAdmission({
      port: "test",
      requestId: "optional",
      limits: DEFAULT_CLIENT_LIMITS,
      clock: systemClock,
      logger,
      access: { authenticate: noTokens, authorize: noTokens, recheck: noTokens },
    });
    this.#host = new QuoinHost({
      callAdmission: this.#callAdmission,
      observer: new CallObserver(requestLog, monotonicMs),
      leaderEndpoint: () => null,
      log: logger,
      portName: "test",
      monotonicMs,
      connections: { slowDown: nothing, verified: nothing },
    });
    this.#host.addMethods(METHODS);
    const handlers = LIBRARY_HANDLERS as unknown as UntypedServiceImplementation;
    this.#host.addLibrary(Object.values(LIBRARY), async () => [{ definition: LIBRARY, handlers }]);
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
    this.#callAdmission.stop();
  }
}
