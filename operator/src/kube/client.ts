/**
 * Client of the API server: plain JSON, a deadline for each request, and a KubeError for each refusal.
 *
 * The client does not retry. A write without an answer may have taken effect; the caller must read again.
 */
import type { Dispatcher } from "undici";
import { errors, request } from "undici";
import type { Connection } from "./connection.ts";
import { isKubeError, KubeError } from "./kube-error.ts";
import { apiVersionOf, collectionPath, type Kind, objectPath, type Reference } from "./resources.ts";
import type { KubeList, KubeObject, WatchEvent } from "./wire.ts";

/** Field manager of the operator's applies. */
const MANAGER = "quoin-operator";
/** Field manager of the operator's notes. It differs, so that an apply of the object does not remove the notes. */
const NOTES_MANAGER = "quoin-operator-notes";
const DEADLINE_MS = 15_000;
const PAGE_ITEMS = 500;

/** Version of the object that a write requires. */
export interface Precondition {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A field of an object, and its whole desired content. */
export interface Part {
  /** A JSON pointer (RFC 6901). Its parent must exist. */
  readonly path: string;
  /** Undefined = the part must be absent. */
  readonly value: unknown;
}

export interface RequestObserver {
  /** @param status of HTTP, 0 without an answer */
  onRequest(method: string, status: number, durationMs: number): void;
}

interface WatchSelection {
  /** Empty = all. */
  readonly labelSelector: string;
  /** The watch begins after this version. */
  readonly resourceVersion: string;
  /** How long the API server should keep the watch open. */
  readonly durationSeconds: number;
  /** The watch ends after this long without a line. */
  readonly silenceMs: number;
}

interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly body?: object;
  readonly contentType?: string;
}

export class KubeClient {
  readonly #connection: Connection;
  readonly #observer: RequestObserver | null;
  readonly #deadlineMs: number;

  /** @param deadlineMs of each request other than watches */
  constructor(connection: Connection, observer: RequestObserver | null = null, deadlineMs = DEADLINE_MS) {
    this.#connection = connection;
    this.#observer = observer;
    this.#deadlineMs = deadlineMs;
  }

  /** @returns null if the object does not exist */
  async get<Item extends KubeObject>(reference: Reference): Promise<Item | null> {
    try {
      return await this.#request<Item>({ method: "GET", path: objectPath(reference) });
    } catch (error) {
      if (isKubeError(error, "missing")) {
        return null;
      }
      throw error;
    }
  }

  /**
   * Lists objects by labels and fields; an empty selector matches all. Also returns the list's version, from which a
   * watch can continue.
   */
  async list<Item extends KubeObject>(
    kind: Kind,
    namespace: string,
    labelSelector: string,
    fieldSelector = "",
  ): Promise<KubeList<Item>> {
    const items: Item[] = [];
    let next = "";
    for (;;) {
      const query = {
        limit: String(PAGE_ITEMS),
        ...(labelSelector && { labelSelector }),
        ...(fieldSelector && { fieldSelector }),
        ...(next && { continue: next }),
      };
      const page = await this.#request<KubeList<Item>>({ method: "GET", path: collectionPath(kind, namespace), query });
      // The items of a list of an API server's own kinds lack these two fields.
      items.push(...page.items.map((item) => ({ apiVersion: apiVersionOf(kind), kind, ...item })));
      next = page.metadata?.continue ?? "";
      if (next === "") {
        return { ...page, items };
      }
    }
  }

  /** @throws KubeError `exists` if the object already exists */
  create<Item = KubeObject>({ kind, namespace }: Omit<Reference, "name">, object: object): Promise<Item> {
    const path = collectionPath(kind, namespace);
    return this.#request({ method: "POST", path, query: { fieldManager: MANAGER }, body: object });
  }

  /**
   * Server-side apply, with force.
   * @throws KubeError `conflict` if `metadata.resourceVersion` is given and has changed
   */
  apply<Item = KubeObject>(reference: Reference, object: object, options: { dryRun?: boolean } = {}): Promise<Item> {
    return this.#apply(objectPath(reference), object, options.dryRun === true ? { dryRun: "All" } : {});
  }

  /**
   * Replaces the whole status.
   * @throws KubeError `conflict` if the object is no longer of this version
   */
  patchStatus(reference: Reference, { uid, resourceVersion }: Precondition, status: object): Promise<KubeObject> {
    const { kind, namespace, name } = reference;
    const metadata = { name, namespace, uid, resourceVersion };
    return this.#apply(
      `${objectPath(reference)}/status`,
      { apiVersion: apiVersionOf(kind), kind, metadata, status },
      {},
    );
  }

  /**
   * Merges into the object.
   * @throws KubeError `conflict` if the object is no longer of this version
   */
  patch<Item = KubeObject>(
    reference: Reference,
    precondition: Precondition,
    change: { readonly metadata?: object; readonly spec?: object },
  ): Promise<Item> {
    return this.#request({
      method: "PATCH",
      path: objectPath(reference),
      query: { fieldManager: NOTES_MANAGER },
      contentType: "application/merge-patch+json",
      body: { ...change, metadata: { ...change.metadata, ...precondition } },
    });
  }

  /**
   * Replaces parts of an object, including fields of other managers in them.
   *
   * @returns the object after the write, or after a simulated write in a dry run
   * @throws KubeError `conflict` if the object is no longer of this version
   */
  replace<Item = KubeObject>(
    reference: Reference,
    precondition: Precondition,
    parts: readonly Part[],
    options: { dryRun?: boolean } = {},
  ): Promise<Item> {
    const version = Object.entries(precondition).map(([name, value]) => ({ path: `/metadata/${name}`, value }));
    return this.#request({
      method: "PATCH",
      path: objectPath(reference),
      query: {
        fieldManager: MANAGER,
        fieldValidation: "Strict",
        ...(options.dryRun === true ? { dryRun: "All" } : {}),
      },
      contentType: "application/json-patch+json",
      body: [...version, ...parts].map(({ path, value }) =>
        value === undefined ? { op: "remove", path } : { op: "add", path, value },
      ),
    });
  }

  async remove(reference: Reference, preconditions: Precondition): Promise<void> {
    await this.#request({
      method: "DELETE",
      path: objectPath(reference),
      body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
    });
  }

  /**
   * Evicts a pod, as a drain does.
   *
   * Sends no resource version: the API server charges the eviction to the budget before it checks the version. A pod
   * that then stays counts as gone for two minutes.
   * @throws KubeError `throttled` while a disruption budget does not allow the eviction
   */
  async evict(reference: Reference, preconditions: Pick<Precondition, "uid">): Promise<void> {
    const { namespace, name } = reference;
    await this.#request({
      method: "POST",
      path: `${objectPath(reference)}/eviction`,
      body: {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name, namespace },
        deleteOptions: { preconditions },
      },
    });
  }

  /**
   * Watches changes after a version. Resolves when the API server has begun to send. The stream ends when the API
   * server ends it, after a long silence, or with the signal.
   * @throws KubeError `unavailable` on the signal
   */
  async watch(
    kind: Kind,
    namespace: string,
    { labelSelector, resourceVersion, durationSeconds, silenceMs }: WatchSelection,
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchEvent>> {
    const path = collectionPath(kind, namespace);
    const asked = `GET ${path}?watch`;
    const query = {
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(durationSeconds),
      resourceVersion,
      ...(labelSelector && { labelSelector }),
    };
    const answer = await this.#send({ method: "GET", path, query }, signal, silenceMs);
    if (answer.statusCode !== 200) {
      throw await refusal(asked, answer);
    }
    return eventsOf(asked, answer.body);
  }

  #apply<Item>(path: string, body: object, query: Record<string, string>): Promise<Item> {
    return this.#request({
      method: "PATCH",
      path,
      query: { fieldManager: MANAGER, force: "true", fieldValidation: "Strict", ...query },
      // Every JSON text is also YAML.
      contentType: "application/apply-patch+yaml",
      body,
    });
  }

  async #request<Answer>(asked: ApiRequest): Promise<Answer> {
    const text = `${asked.method} ${asked.path}`;
    const signal = AbortSignal.timeout(this.#deadlineMs);
    const answer = await this.#send(asked, signal, this.#deadlineMs);
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      throw await refusal(text, answer);
    }
    try {
      return (await answer.body.json()) as Answer;
    } catch (error) {
      throw KubeError.unanswered(text, error);
    }
  }

  async #send(asked: ApiRequest, signal: AbortSignal, silenceMs: number): Promise<Dispatcher.ResponseData> {
    const { method, path, query, body, contentType = "application/json" } = asked;
    const url = new URL(this.#connection.url + path);
    url.search = new URLSearchParams(query).toString();
    const startMs = performance.now();
    let status = 0;
    try {
      const headers = { ...(await this.#connection.headers()), accept: "application/json", "user-agent": MANAGER };
      const answer = await request(url, {
        method,
        dispatcher: this.#connection.dispatcher,
        headers: body === undefined ? headers : { ...headers, "content-type": contentType },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        headersTimeout: DEADLINE_MS,
        bodyTimeout: silenceMs,
      });
      status = answer.statusCode;
      return answer;
    } catch (error) {
      throw KubeError.unanswered(`${method} ${path}`, error);
    } finally {
      this.#observer?.onRequest(method, status, performance.now() - startMs);
    }
  }
}

async function refusal(asked: string, { statusCode, headers, body }: Dispatcher.ResponseData): Promise<KubeError> {
  const retryAfter = headers["retry-after"];
  return KubeError.fromAnswer(asked, statusCode, await body.text(), Array.isArray(retryAfter) ? undefined : retryAfter);
}

async function* eventsOf(asked: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  try {
    for await (const line of linesOf(body)) {
      yield JSON.parse(line) as WatchEvent;
    }
  } catch (error) {
    if (error instanceof errors.BodyTimeoutError) {
      return;
    }
    throw KubeError.unanswered(asked, error);
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
}
