/**
 * The few requests that the harness itself sends to the API server of its own cluster, without starting a `kubectl` for
 * each. Objects are plain JSON; the caller knows their fields.
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";
import type { ApiAccess } from "./kubeconfig.ts";

const LIMIT_MS = 30_000;
const CREATED = 201;
const OK = 200;
const TYPE_OF_PATCH = "application/merge-patch+json";

/** JSON as the server sends it: `kind`, `metadata` and the fields of the kind. */
// biome-ignore lint/suspicious/noExplicitAny: objects of every kind, which the server has checked.
export type KubeObject = any;

/** The server has refused a request. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export class ApiClient {
  readonly #url: string;
  readonly #agent: Agent;

  constructor({ url, authority, certificate, key }: ApiAccess) {
    this.#url = url;
    this.#agent = new Agent({ ca: authority, cert: certificate, key, keepAlive: true });
  }

  /** Whether the server answers, and reports that it is ready. */
  async isReady(): Promise<boolean> {
    try {
      await this.#exchange("GET", "/readyz");
      return true;
    } catch (error) {
      // It is starting: it does not listen yet, or reports what it waits for.
      if (error instanceof ApiError || (error instanceof Error && "code" in error)) {
        return false;
      }
      throw error;
    }
  }

  async get(path: string): Promise<KubeObject> {
    return JSON.parse(await this.#exchange("GET", path));
  }

  async create(path: string, object: KubeObject): Promise<void> {
    await this.#exchange("POST", path, JSON.stringify(object));
  }

  /** Changes the fields in the patch. */
  async patch(path: string, patch: KubeObject): Promise<void> {
    await this.#exchange("PATCH", path, JSON.stringify(patch));
  }

  async delete(path: string): Promise<void> {
    await this.#exchange("DELETE", path);
  }

  /** Calls back for each change in a collection. Resolves when the server ends the watch. */
  async watch(path: string, onEvent: (type: string, object: KubeObject) => void): Promise<void> {
    const answer = await this.#send("GET", path);
    if (answer.statusCode !== OK) {
      throw new ApiError(await textOf(answer), answer.statusCode ?? 0);
    }
    for await (const line of createInterface({ input: answer })) {
      const { type, object } = JSON.parse(line);
      onEvent(type, object);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #exchange(method: string, path: string, body?: string): Promise<string> {
    const answer = await this.#send(method, path, body);
    const text = await textOf(answer);
    const status = answer.statusCode ?? 0;
    if (status !== OK && status !== CREATED) {
      throw new ApiError(`${method} ${path}: ${status} ${text}`, status);
    }
    return text;
  }

  #send(method: string, path: string, body?: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const type = method === "PATCH" ? TYPE_OF_PATCH : "application/json";
      const headers = body === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) };
      const options = { method, agent: this.#agent, headers };
      const asked: ClientRequest = request(new URL(path, this.#url), options, (answer) => {
        // A watch may be quiet for any time.
        asked.setTimeout(0);
        resolve(answer);
      });
      asked.setTimeout(LIMIT_MS, () => asked.destroy(new Error(`${method} ${path}: no answer`)));
      asked.on("error", reject).end(body);
    });
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  answer.setEncoding("utf8");
  let text = "";
  for await (const part of answer) {
    text += part;
  }
  return text;
}
