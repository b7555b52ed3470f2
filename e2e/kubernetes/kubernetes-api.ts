/** The Kubernetes API for specs: objects as plain JSON, through `kubectl proxy`. */

import { type ApiProxy, TestCluster, until } from "../cluster/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, of which each spec knows what it asked for
export type KubeObject = any;

const OK_MAX = 299;
const NOT_FOUND = 404;
/** Less than the five minutes after which fetch ends a silent answer. */
const WATCH_SECONDS = 240;
/** The API server itself waits half a minute for a pod that no longer exists. */
const TEXT_LIMIT_MS = 3_000;

/** The API server has refused a request. */
export class Refusal extends Error {
  /** An object of kind Status. */
  readonly answer: KubeObject;

  constructor(path: string, answer: KubeObject) {
    super(`${path}: ${answer.code} ${answer.message}`);
    this.answer = answer;
  }
}

/** Frequent requests to a cluster; its programs do everything else. */
export class Kubernetes {
  readonly cluster: TestCluster;
  readonly #proxy: ApiProxy;

  private constructor(cluster: TestCluster, proxy: ApiProxy) {
    this.cluster = cluster;
    this.#proxy = proxy;
  }

  static async connect(): Promise<Kubernetes> {
    const cluster = new TestCluster();
    return new Kubernetes(cluster, await cluster.serveApi());
  }

  close(): void {
    this.#proxy.close();
  }

  /** Null if the object does not exist. */
  async get(path: string): Promise<KubeObject | null> {
    const answer = await fetch(`${this.#proxy.url}${path}`);
    if (answer.status === NOT_FOUND) {
      await answer.body?.cancel();
      return null;
    }
    return JSON.parse(await textOf(path, answer));
  }

  /**
   * The answer of a program in the cluster, through the API server; null if it does not answer, such as while its pod
   * ends.
   */
  async text(path: string): Promise<string | null> {
    try {
      const answer = await fetch(`${this.#proxy.url}${path}`, { signal: AbortSignal.timeout(TEXT_LIMIT_MS) });
      const text = await answer.text();
      return answer.status > OK_MAX ? null : text;
    } catch (error) {
      if (error instanceof DOMException && error.name === "TimeoutError") {
        return null;
      }
      throw error;
    }
  }

  /** Rejects with the server's message if it refuses; with a Refusal if it is the API server. */
  async send(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object): Promise<KubeObject> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = await fetch(`${this.#proxy.url}${path}`, {
      method,
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return JSON.parse(await textOf(path, answer));
  }

  /** Calls back for each object of a collection, and for each change, until the signal. Rejects if a watch breaks. */
  async watch(path: string, signal: AbortSignal, onObject: (object: KubeObject) => void): Promise<void> {
    while (!signal.aborted) {
      const { items, metadata } = await this.get(path);
      for (const item of items) {
        onObject(item);
      }
      await this.#watchFrom(metadata.resourceVersion, path, signal, onObject);
    }
  }

  /** Until the signal, or until the server ends it. */
  async #watchFrom(
    version: string,
    path: string,
    signal: AbortSignal,
    onObject: (object: KubeObject) => void,
  ): Promise<void> {
    const query = `watch=1&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${version}`;
    try {
      const answer = await fetch(`${this.#proxy.url}${path}&${query}`, { signal });
      let rest = "";
      for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        const lines = (rest + Buffer.from(part).toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { type, object } = JSON.parse(line);
          if (type === "ERROR") {
            throw new Error(`${path}: ${object.message}`);
          }
          onObject(object);
        }
      }
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  /** Lets the server apply objects, with the field manager "e2e". Then a large object needs no annotation with its text. */
  async apply(namespace: string, ...objects: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const onServer = ["--server-side", "--field-manager", "e2e", "--force-conflicts"];
    await this.cluster.kubectl(["apply", "--namespace", namespace, ...onServer, "--filename", "-"], { input: list });
  }

  /** Removes a namespace with all its objects, and waits until it is gone. */
  async removeNamespace(name: string, limitMs: number): Promise<void> {
    await this.beginToRemoveNamespace(name);
    const path = `/api/v1/namespaces/${name}`;
    await until(`namespace ${name} to be gone`, async () => (await this.get(path)) === null, limitMs);
  }

  /** The same, without waiting. */
  async beginToRemoveNamespace(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${name}`;
    if ((await this.get(path)) !== null) {
      await this.send("DELETE", path);
    }
  }
}

async function textOf(path: string, answer: Response): Promise<string> {
  const text = await answer.text();
  if (answer.status > OK_MAX) {
    const isFromApiServer = answer.headers.get("content-type")?.startsWith("application/json") === true;
    const body: KubeObject = isFromApiServer ? JSON.parse(text) : null;
    if (body?.kind === "Status") {
      throw new Refusal(path, body);
    }
    throw new Error(`${path}: ${answer.status} ${text}`);
  }
  return text;
}
