/**
 * The standard health service, grpc.health.v1.Health: whether the member is ready, for itself ("") and for each of its
 * services alike. Needs no token.
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
        // Both libraries leave open what kind of a method each name stands for.
        const all = handlers as UntypedServiceImplementation;
        const watch = all.watch as (call: WatchCall) => void;
        const watched = (call: WatchCall): void => {
          this.#watching.add(call);
          // The library says so of every call that is over.
          call.once("cancelled", () => this.#watching.delete(call));
          watch(call);
        };
        host.addLibraryService(definition, { ...all, watch: watched });
      },
    });
  }

  /** Tells those who ask and those who watch. */
  setServing(serving: boolean): void {
    for (const service of this.#services) {
      this.#implementation.setStatus(service, serving ? "SERVING" : "NOT_SERVING");
    }
  }

  /** Ends the watches, behind what they were told: they would keep the server from stopping. */
  endWatches(): void {
    for (const call of this.#watching) {
      call.emit("error", { code: status.UNAVAILABLE, details: "this member is shutting down" });
    }
  }
}
