/**
 * An API server in memory on its own loopback port, with the paths, verbs and refusals that the operator meets. A spec
 * decides what goes wrong.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Connection } from "../../src/kube/index.ts";
import { directConnection } from "./direct-connection.ts";
import type { Reply, Request } from "./exchange.ts";
import { type Change, listedTextOf, matches, Refused, Store, type Stored, textOf } from "./store.ts";
import type { Any } from "./tree.ts";

const ALWAYS_SERVED = [
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "secrets",
  "services",
  "serviceaccounts",
  "statefulsets",
  "poddisruptionbudgets",
  "networkpolicies",
  "roles",
  "rolebindings",
  "storageclasses",
  "leases",
  "events",
  "customresourcedefinitions",
  "coordinationclusters",
  "coordinationbackupstores",
  "coordinationbackups",
  "coordinationbackupschedules",
];

/** One request. */
export interface Call {
  readonly method: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly query: URLSearchParams;
  readonly body: Any;
}

/** What a spec does to a request: its own answer, or none at all. */
export type Fault =
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | "cut"
  | "silence";

/** An evicted pod counts as gone for this long. */
const ADMITTED_MS = 120_000;

interface Watcher {
  readonly call: Call;
  readonly response: Reply;
}

export class ApiServer {
  readonly store: Store;
  readonly served = new Set(ALWAYS_SERVED);
  readonly calls: Call[] = [];
  /** Called before a request takes effect. */
  before: (call: Call) => Fault | null = () => null;
  /** Called after a write has taken effect and before its answer. */
  after: (call: Call) => Fault | null = () => null;
  /** Called when a request has changed something. */
  settle: () => void = () => {};
  /** Called with the client's port. */
  onConnection: (port: number) => void = () => {};
  readonly #server: Server;
  readonly #watchers = new Set<Watcher>();
  readonly #now: () => number;
  /** Pods that a budget has let go: time by uid. */
  readonly #admitted = new Map<string, number>();
  url = "";

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.store = new Store(now);
    this.store.onChange = (change) => this.#publish(change);
    this.#server = createServer((request, response) => {
      this.onConnection(request.socket.remotePort ?? 0);
      void bodyOf(request).then((text) => {
        this.#serve({ method: request.method ?? "GET", url: request.url ?? "/", text }, response);
      });
    });
  }

  /** A connection without sockets; it works without `listen`. */
  connection(): Connection {
    return directConnection((request, reply) => this.#serve(request, reply));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.cutWatches();
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  get watches(): number {
    return this.#watchers.size;
  }

  /** Ends all watches as a network failure does. */
  cutWatches(): void {
    for (const { response } of this.#watchers) {
      response.destroy();
    }
    this.#watchers.clear();
  }

  /** Ends all watches as the API server does at the end of their duration. */
  endWatches(): void {
    for (const { response } of this.#watchers) {
      response.end();
    }
  }

  /** Sends a line that is not a change to all watches. */
  deliverEvents(type: "BOOKMARK" | "ERROR", object: Any): void {
    for (const { response } of this.#watchers) {
      response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }

  #serve(request: Request, response: Reply): void {
    const call = parse(request);
    this.calls.push(call);
    const fault = this.before(call);
    if (fault !== null) {
      answerFault(response, fault);
      return;
    }
    try {
      this.#do(call, response);
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      const { status, reason, message, headers } = error;
      answer(response, status, JSON.stringify({ kind: "Status", code: status, reason, message }), headers);
    }
  }

  #do(call: Call, response: Reply): void {
    if (!this.served.has(call.plural)) {
      response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n");
    } else if (call.method === "GET" && call.query.get("watch") === "1") {
      this.#watch(call, response);
    } else if (call.method === "GET") {
      answer(response, 200, this.#read(call));
    } else {
      const result = this.#write(call);
      const fault = call.query.get("dryRun") === null ? this.after(call) : null;
      this.settle();
      if (fault === null) {
        answer(response, call.method === "POST" ? 201 : 200, JSON.stringify(result));
      } else {
        answerFault(response, fault);
      }
    }
  }

  /** @returns JSON */
  #read({ plural, namespace, name, query }: Call): string {
    if (name !== "") {
      return textOf(this.store.get(plural, namespace, name));
    }
    const fields = termsOf(query.get("fieldSelector"));
    const all = this.store.list(plural, namespace, labelsOf(query)).filter((object) => hasFields(object, fields));
    const from = Number(query.get("continue") ?? 0);
    const end = from + Number(query.get("limit") ?? all.length);
    const metadata = {
      resourceVersion: String(this.store.version),
      ...(end < all.length ? { continue: String(end) } : {}),
    };
    const items = all.slice(from, end).map(listedTextOf);
    return `{"kind":"List","metadata":${JSON.stringify(metadata)},"items":[${items.join()}]}`;
  }

  #write(call: Call): Any {
    const { method, plural, namespace, name, subresource, query, body } = call;
    if (method === "POST" && subresource === "eviction") {
      return this.#evict(this.store.get(plural, namespace, name), body.deleteOptions?.preconditions);
    }
    if (method === "POST") {
      return this.store.create(plural, namespace, body);
    }
    if (method === "DELETE") {
      this.store.remove(plural, this.store.get(plural, namespace, name), body?.preconditions);
      return { kind: "Status", status: "Success" };
    }
    if (Array.isArray(body)) {
      const object = this.store.get(plural, namespace, name);
      return this.store.replace(plural, object, body, query.get("dryRun") !== null);
    }
    if (query.get("force") !== null) {
      const part = subresource === "status" ? "status" : "";
      const manager = query.get("fieldManager") ?? "";
      return this.store.apply(plural, namespace, body, { manager, part, dryRun: query.get("dryRun") !== null });
    }
    return this.store.merge(plural, this.store.get(plural, namespace, name), body);
  }

  /** Counts as the disruption controller does: ready pods, and for unready pods whether enough others are ready. */
  #evict(pod: Stored, preconditions: Any): Any {
    for (const budget of this.store.list("poddisruptionbudgets", pod.metadata.namespace)) {
      if (matches(pod, budget.spec.selector.matchLabels)) {
        const covered = this.store.list("pods", pod.metadata.namespace, budget.spec.selector.matchLabels);
        const ready = covered.filter((each) => isReady(each) && !this.#isLeaving(each)).length;
        if (ready - (isReady(pod) ? 1 : 0) < budget.spec.minAvailable) {
          throw new Refused(
            429,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
          );
        }
      }
    }
    // The budget is charged before the pod is checked: an eviction that then fails still counts for a while.
    this.#admitted.set(pod.metadata.uid, this.#now());
    this.store.remove("pods", pod, preconditions);
    return { kind: "Status", status: "Success" };
  }

  #isLeaving({ metadata }: Stored): boolean {
    const admitted = this.#admitted.get(metadata.uid) ?? Number.NEGATIVE_INFINITY;
    return metadata.deletionTimestamp !== undefined || this.#now() - admitted < ADMITTED_MS;
  }

  #watch(call: Call, response: Reply): void {
    const since = Number(call.query.get("resourceVersion") ?? 0);
    if (since < this.store.oldest) {
      throw new Refused(410, "Expired", "too old resource version");
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const watcher = { call, response };
    this.#watchers.add(watcher);
    response.on("close", () => this.#watchers.delete(watcher));
    for (const change of this.store.history.filter(({ version }) => version > since)) {
      this.#send(watcher, change);
    }
  }

  #publish(change: Change): void {
    for (const watcher of this.#watchers) {
      this.#send(watcher, change);
    }
  }

  #send({ call, response }: Watcher, { type, plural, object }: Change): void {
    const isHere = call.namespace === "" || object.metadata.namespace === call.namespace;
    if (plural === call.plural && isHere && matches(object, labelsOf(call.query))) {
      response.write(`{"type":"${type}","object":${textOf(object)}}\n`);
    }
  }
}

export function isReady(pod: Stored): boolean {
  return (pod.status?.conditions ?? []).some((each: Any) => each.type === "Ready" && each.status === "True");
}

/** Only equality and existence of labels. */
function labelsOf(query: URLSearchParams): Record<string, string | undefined> {
  return Object.fromEntries(termsOf(query.get("labelSelector")));
}

function termsOf(selector: string | null): [name: string, value: string | undefined][] {
  const terms = (selector ?? "").split(",").filter((term) => term !== "");
  return terms.map((term) => {
    const [name = "", value] = term.split("=");
    return [name, value];
  });
}

/** @param fields paths such as `regarding.uid` */
function hasFields(object: Stored, fields: readonly [path: string, value: string | undefined][]): boolean {
  const valueAt = (path: string): Any => path.split(".").reduce((tree: Any, name) => tree?.[name], object);
  return fields.every(([path, value]) => valueAt(path) === value);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse({ method, url, text }: Request): Call {
  const { pathname, searchParams: query } = new URL(url, "http://localhost");
  const parts = pathname.split("/").filter((part) => part !== "");
  const isOldest = parts[0] === "api";
  const group = isOldest ? "" : (parts[1] ?? "");
  const rest = parts.slice(isOldest ? 2 : 3);
  const namespace = rest[0] === "namespaces" ? (rest[1] ?? "") : "";
  const [plural = "", name = "", subresource = ""] = rest[0] === "namespaces" ? rest.slice(2) : rest;
  const body: Any = text === "" ? null : JSON.parse(text);
  return { method, group, plural, namespace, name, subresource, query, body };
}

function answer(response: Reply, status: number, json: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(json);
}

function answerFault(response: Reply, fault: Fault): void {
  if (fault === "cut") {
    response.destroy();
  } else if (fault !== "silence") {
    response.writeHead(fault.status, fault.headers).end(fault.body ?? "{}");
  }
}
