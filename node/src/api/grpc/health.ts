/**
 * The standard health service, grpc.health.v1.Health: whether the member is ready. The answer is the same for the
 * server ("") and for each of its services. It needs no token.
 *
 * Load balancers call it all the time, and every client may, so a call costs little. Messages of watches are encoded
 * once.
 */

import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus,
  HealthListRequest,
  HealthListResponse,
  HealthService as healthDefinition,
  rawMethods,
} from "@quoin/proto";
import { CoordinationError } from "../../state/index.ts";
import {
  type AnsweredCall,
  type CallHandler,
  errorStatus,
  plainStatus,
  type ServedMethod,
  status,
} from "../calls/index.ts";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;
type State = typeof SERVING | typeof NOT_SERVING | typeof SERVICE_UNKNOWN;

const MESSAGES: Readonly<Record<State, Uint8Array>> = {
  [SERVING]: messageOf(SERVING),
  [NOT_SERVING]: messageOf(NOT_SERVING),
  [SERVICE_UNKNOWN]: messageOf(SERVICE_UNKNOWN),
};

export class HealthService {
  readonly methods: readonly ServedMethod[];
  readonly #services: ReadonlySet<string>;
  readonly #watches = new Set<HealthWatch>();
  #isServing = false;

  /** Starts as NOT_SERVING. */
  constructor(services: readonly string[]) {
    this.#services = new Set(["", ...services]);
    const { check, list, watch } = rawMethods(healthDefinition);
    const unary = { checks: "none", mayWait: false } as const;
    this.methods = [
      {
        definition: check,
        responseCodec: HealthCheckResponse,
        ...unary,
        handler: answering((call: AnsweredCall<HealthCheckResponse>, bytes) => {
          this.#check(call, call.decode(HealthCheckRequest, bytes));
        }),
      },
      {
        definition: list,
        responseCodec: HealthListResponse,
        ...unary,
        handler: answering((call: AnsweredCall<HealthListResponse>, bytes) => {
          call.decode(HealthListRequest, bytes);
          const state = { status: this.#state };
          call.answer({ statuses: new Map([...this.#services].map((name) => [name, state])) }, "no");
        }),
      },
      {
        definition: watch,
        responseCodec: HealthCheckResponse,
        checks: "none",
        mayWait: true,
        handler: answering((call: AnsweredCall<never>, bytes) => {
          this.#watch(call, call.decode(HealthCheckRequest, bytes));
        }),
      },
    ];
  }

  /** Sets the state for later checks, and sends it to watches. */
  setServing(isServing: boolean): void {
    this.#isServing = isServing;
    for (const watch of this.#watches) {
      watch.update();
    }
  }

  /** Ends the watches after their last message; otherwise they would keep the server from stopping. */
  endWatches(): void {
    for (const watch of this.#watches) {
      watch.end();
    }
  }

  get #state(): typeof SERVING | typeof NOT_SERVING {
    return this.#isServing ? SERVING : NOT_SERVING;
  }

  #check(call: AnsweredCall<HealthCheckResponse>, { service }: HealthCheckRequest): void {
    if (this.#services.has(service)) {
      call.answer({ status: this.#state }, "no");
    } else {
      call.end(plainStatus(status.NOT_FOUND, "this server has no service of this name"));
    }
  }

  #watch(call: AnsweredCall<never>, { service }: HealthCheckRequest): void {
    const isKnown = this.#services.has(service);
    const watch = new HealthWatch(call, () => (isKnown ? this.#state : SERVICE_UNKNOWN));
    this.#watches.add(watch);
    call.onEnded = () => this.#watches.delete(watch);
    watch.update();
  }
}

/** Sends a state when it differs from the one that was sent last, and only when that one has left memory. */
class HealthWatch {
  readonly #call: AnsweredCall<never>;
  readonly #stateNow: () => State;
  #sent: State | null = null;
  #isSending = false;

  constructor(call: AnsweredCall<never>, stateNow: () => State) {
    this.#call = call;
    this.#stateNow = stateNow;
  }

  update(): void {
    const state = this.#stateNow();
    if (this.#isSending || state === this.#sent || this.#call.hasEnded) {
      return;
    }
    this.#sent = state;
    this.#isSending = true;
    this.#call.send(MESSAGES[state], () => {
      this.#isSending = false;
      this.update();
    });
  }

  end(): void {
    this.#call.end(plainStatus(status.UNAVAILABLE, "this member is shutting down"));
  }
}

/** A handler that answers with the refusal of the request if one is thrown. */
function answering<Response>(handle: CallHandler<Response>): CallHandler<Response> {
  return (call, request) => {
    try {
      handle(call, request);
    } catch (error) {
      if (!(error instanceof CoordinationError)) {
        throw error;
      }
      call.end(errorStatus(error, "no", null));
    }
  };
}

function messageOf(state: State): Uint8Array {
  return HealthCheckResponse.encode({ status: state }).finish();
}
