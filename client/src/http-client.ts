/** The HTTP interface of a cluster as objects: JSON in, JSON out, refusals as QuoinError. */

import { askHttp, type HttpRequest, httpRefusal, parseObject } from "./http-request.ts";
import { QuoinError } from "./quoin-error.ts";
import type { TlsOptions } from "./tls.ts";
import type { TokenSource } from "./token-source.ts";

/** The parts of an HttpClient. */
export interface HttpClientOptions {
  /** URLs of HTTP interfaces, at least one; each is tried in turn while certainly nothing was done. */
  readonly httpEndpoints: readonly string[];
  /** Undefined = requests carry no token. */
  readonly tokens?: TokenSource | undefined;
  readonly tls?: TlsOptions | undefined;
  /** How long each attempt may take, in milliseconds. Default 10,000, as the service. */
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs = 10_000;
const unauthenticated = 401;

/** Asks the HTTP interface. */
export class HttpClient {
  readonly #options: HttpClientOptions;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /**
   * The JSON object that is answered. Asks the next endpoint when this one certainly did nothing, and once more with a new
   * token when the token is refused.
   *
   * @throws QuoinError with the code of the answer as reason, in capitals; UNAVAILABLE when no endpoint answers.
   */
  async ask(method: HttpRequest["method"], path: string, body?: object): Promise<Record<string, unknown>> {
    let failure: QuoinError | undefined;
    for (const endpoint of this.#options.httpEndpoints) {
      try {
        return await this.#askAt(endpoint, { method, path, body });
      } catch (error) {
        failure = QuoinError.from(error);
        if (failure.code !== "UNAVAILABLE" || failure.outcome !== "not-executed") throw failure;
      }
    }
    throw failure ?? new QuoinError({ code: "UNAVAILABLE", message: "there is no HTTP endpoint to ask" });
  }

  async #askAt(
    endpoint: string,
    asked: Pick<HttpRequest, "method" | "path" | "body">,
  ): Promise<Record<string, unknown>> {
    const { tokens, tls, timeoutMs = defaultTimeoutMs } = this.#options;
    const token = await tokens?.token();
    let answer = await askHttp(endpoint, { ...asked, token, tls, timeoutMs });
    if (answer.status === unauthenticated && tokens !== undefined && token !== undefined) {
      const renewed = await tokens.refresh(token);
      if (renewed !== token) answer = await askHttp(endpoint, { ...asked, token: renewed, tls, timeoutMs });
    }
    if (answer.status < 200 || answer.status > 299) throw httpRefusal(endpoint, asked, answer);
    return Object.fromEntries(parseObject(answer.body));
  }
}
