/**
 * The parts of the Kubernetes API server that pods and their labels need, by HTTPS on the loopback interface. It checks
 * tokens and versions, applies merge patches, and remembers every state of the pods.
 */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

interface Pod {
  version: number;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface ApiCall {
  readonly method: string;
  readonly pod: string;
  readonly token: string;
  readonly contentType: string | undefined;
}

type MergePatch = Pick<Partial<Pod>, "labels" | "annotations"> & { readonly resourceVersion?: string };

export class ApiServer {
  readonly calls: ApiCall[] = [];
  /** After each write, the names of the pods with the leader's label. */
  readonly leaders: string[][] = [];
  /** Called and awaited before each answer; a status that it returns replaces the answer. */
  before: (call: ApiCall) => Promise<number | null> = async () => null;
  tokens: readonly string[] = ["token"];
  readonly #pods = new Map<string, Pod>();
  readonly #server: Server;
  readonly #namespace: string;

  private constructor(namespace: string, files: { readonly certificate: string; readonly key: string }) {
    this.#namespace = namespace;
    const tls = { cert: readFileSync(files.certificate), key: readFileSync(files.key) };
    this.#server = createServer(tls, (request, response) => void this.#serve(request, response));
  }

  static async open(
    namespace: string,
    files: { readonly certificate: string; readonly key: string },
  ): Promise<ApiServer> {
    const server = new ApiServer(namespace, files);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Creates a pod, or changes it as another client would. */
  put(name: string, role: string | null, term: number | null): void {
    const last = this.#pods.get(name);
    this.#pods.set(name, {
      version: (last?.version ?? 0) + 1,
      labels: role === null ? {} : { "quoin.dev/role": role },
      annotations: term === null ? {} : { "quoin.dev/term": String(term) },
    });
  }

  /** Role and term of a pod, as in `leader 7`. */
  roleAndTermOf(name: string): string {
    const pod = this.#pods.get(name);
    return `${pod?.labels["quoin.dev/role"]} ${pod?.annotations["quoin.dev/term"]}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const { method = "", url = "", headers } = request;
    const path = `/api/v1/namespaces/${this.#namespace}/pods/`;
    const call: ApiCall = {
      method,
      pod: url.startsWith(path) ? url.slice(path.length) : "",
      token: headers.authorization?.replace(/^Bearer /, "") ?? "",
      contentType: headers["content-type"],
    };
    this.calls.push(call);
    const status = (await this.before(call)) ?? this.#perform(call, Buffer.concat(chunks).toString());
    const pod = this.#pods.get(call.pod);
    const body =
      status === 200 && pod !== undefined
        ? { kind: "Pod", metadata: { ...pod, name: call.pod, resourceVersion: String(pod.version) } }
        : { kind: "Status", status: "Failure", code: status };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  /** Returns the status of the answer. */
  #perform({ method, pod: name, token, contentType }: ApiCall, body: string): number {
    const pod = this.#pods.get(name);
    if (!this.tokens.includes(token)) {
      return 401;
    }
    if (pod === undefined) {
      return 404;
    }
    if (method === "GET") {
      return 200;
    }
    if (method !== "PATCH" || contentType !== "application/merge-patch+json") {
      return 415;
    }
    const { resourceVersion, labels, annotations } = (JSON.parse(body) as { metadata: MergePatch }).metadata;
    if (resourceVersion !== String(pod.version)) {
      return 409;
    }
    pod.version++;
    Object.assign(pod.labels, labels);
    Object.assign(pod.annotations, annotations);
    this.leaders.push(
      [...this.#pods].filter(([, { labels }]) => labels["quoin.dev/role"] === "leader").map(([key]) => key),
    );
    return 200;
  }
}
