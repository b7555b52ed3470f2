/**
 * The standard health service, grpc.health.v1.Health: whether the member is ready, for itself ("") and for each of its
 * services alike. Needs no token.
 */

import type { Server } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";

export class HealthService {
  readonly #services: readonly string[];
  readonly #implementation: HealthImplementation;

  /** Starts as NOT_SERVING. */
  constructor(services: readonly string[]) {
    this.#services = ["", ...services];
    this.#implementation = new HealthImplementation();
    this.setServing(false);
  }

  addTo(server: Server): void {
    this.#implementation.addToServer(server);
  }

  /** Tells those who ask and those who watch. */
  setServing(serving: boolean): void {
    for (const service of this.#services) {
      this.#implementation.setStatus(service, serving ? "SERVING" : "NOT_SERVING");
    }
  }
}
