/**
 * The standard health service, grpc.health.v1.Health: whether the member is ready. The answer is the same for the
 * server ("") and for each of its services. It needs no token.
 */

import type { LibraryMethod, LibraryService, QuoinHost } from "../quoin-host/index.ts";
import type { HealthLibrary } from "./health-library.ts";

const HEALTH = "/grpc.health.v1.Health";
const METHODS: readonly LibraryMethod[] = [
  { path: `${HEALTH}/Check`, requestStream: false, responseStream: false },
  { path: `${HEALTH}/List`, requestStream: false, responseStream: false },
  { path: `${HEALTH}/Watch`, requestStream: false, responseStream: true },
];

export class HealthService {
  readonly #services: readonly string[];
  #isServing = false;
  #library: HealthLibrary | null = null;

  /** Starts as NOT_SERVING. */
  constructor(services: readonly string[]) {
    this.#services = ["", ...services];
  }

  addTo(host: Pick<QuoinHost, "addLibrary">): void {
    host.addLibrary(METHODS, () => this.#load());
  }

  /** Sets the state for later checks, and sends it to watches. */
  setServing(isServing: boolean): void {
    this.#isServing = isServing;
    this.#library?.setServing(isServing);
  }

  /** Ends the watches after their last message; otherwise they would keep the server from stopping. */
  endWatches(): void {
    this.#library?.endWatches();
  }

  async #load(): Promise<readonly LibraryService[]> {
    const { HealthLibrary } = await import("./health-library.ts");
    this.#library = new HealthLibrary(this.#services, this.#isServing);
    return this.#library.services;
  }
}
