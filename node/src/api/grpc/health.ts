/**
 * The standard health service, grpc.health.v1.Health: whether the member is ready. The answer is the same for the
 * server ("") and for each of its services. It needs no token.
 */

import { type ServerWritableStream, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import type { GrpcHost } from "../calls/index.ts";

type WatchCall = ServerWritableStream<unknown, unknown>;

export class HealthService {
  readonly #services: readonly string[];
  readonly #implementation: HealthImplementation;
  readonly #watching = new Set<WatchCall>();

  /** Starts as NOT_SERVING. */
  constructor(services: readonly string[]) {
    this.#services = ["", ...services];
    this.#implementation = new HealthImplementation();
    this.setServing(false);
  }

  addTo(host: Pick<GrpcHost, "addLibraryService">): void {
    this.#implementation.addToServer({
      addService: (definition, handlers) => {
        // The types of both libraries do not say which kind of method each name is.
        const all = handlers as UntypedServiceImplementation;
        const watch = all.watch as (call: WatchCall) => void;
        const watched = (call: WatchCall): void => {
          this.#watching.add(call);
          // The library emits this for every call that is over.
          call.once("cancelled", () => this.#watching.delete(call));
          watch(call);
        };
        host.addLibraryService(definition, { ...all, watch: watched });
      },
    });
  }

  /** Sets the state for later checks, and sends it to watches. */
  setServing(serving: boolean): void {
    for (const service of this.#services) {
      this.#implementation.setStatus(service, serving ? "SERVING" : "NOT_SERVING");
    }
  }

  /** Ends the watches after their last message; otherwise they would keep the server from stopping. */
  endWatches(): void {
    for (const call of this.#watching) {
      call.emit("error", { code: status.UNAVAILABLE, details: "this member is shutting down" });
    }
  }
}
