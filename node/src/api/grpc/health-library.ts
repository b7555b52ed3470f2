/** The library of the health service. It is loaded with the first call of the service. */

import { type ServerWritableStream, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import type { LibraryService } from "../quoin-host/index.ts";

type WatchCall = ServerWritableStream<unknown, unknown>;

export class HealthLibrary {
  readonly services: readonly LibraryService[];
  readonly #names: readonly string[];
  readonly #implementation = new HealthImplementation();
  readonly #watching = new Set<WatchCall>();

  constructor(names: readonly string[], isServing: boolean) {
    this.#names = names;
    this.setServing(isServing);
    const services: LibraryService[] = [];
    this.#implementation.addToServer({
      addService: (definition, handlers) => {
        // The types of both libraries do not say which kind of method each name is.
        const all = handlers as UntypedServiceImplementation;
        services.push({
          definition,
          handlers: { ...all, watch: this.#watched(all.watch as (call: WatchCall) => void) },
        });
      },
    });
    this.services = services;
  }

  setServing(isServing: boolean): void {
    for (const name of this.#names) {
      this.#implementation.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
    }
  }

  endWatches(): void {
    for (const call of this.#watching) {
      call.emit("error", { code: status.UNAVAILABLE, details: "this member is shutting down" });
    }
  }

  #watched(watch: (call: WatchCall) => void): (call: WatchCall) => void {
    return (call) => {
      this.#watching.add(call);
      // The library emits this for every call that is over.
      call.once("cancelled", () => this.#watching.delete(call));
      watch(call);
    };
  }
}
