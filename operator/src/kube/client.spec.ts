import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type Any, ApiServer, configOf } from "../../test/api-server/index.ts";
import { until } from "../../test/index.ts";
import { KubeClient } from "./client.ts";
import { type Connection, connect } from "./connection.ts";
import { KubeError, type KubeErrorKind } from "./kube-error.ts";

const POD = { kind: "Pod", namespace: "default", name: "demo-0" } as const;

describe("client of the API server", () => {
  let server: ApiServer;
  let connection: Connection;
  let client: KubeClient;

  beforeEach(async () => {
    server = new ApiServer();
    await server.listen();
    connection = await connect(configOf(`${server.url}/`));
    client = new KubeClient(connection);
  });

  afterEach(async () => {
    await connection.close();
    await server.close();
  });

  async function errorOf(work: Promise<unknown>): Promise<KubeError> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(KubeError);
      return error as KubeError;
    }
    throw new Error("it was not refused");
  }

  const pod = (fields: object = {}): Any => ({
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "demo-0" },
    ...fields,
  });

  it("reads existing objects, and null for missing ones", async () => {
    expect(await client.get(POD)).to.equal(null);
    await client.create(POD, pod({ spec: { fieldOfTomorrow: { deep: [1] } } }));
    const found = await client.get<Any>(POD);
    expect(found.spec.fieldOfTomorrow).to.deep.equal({ deep: [1] });
  });

  it("lists in pages, with labels, in one namespace or in all", async () => {
    for (let at = 0; at < 1_001; at++) {
      const metadata = { name: `demo-${at}`, labels: { of: at % 2 === 0 ? "a" : "b" } };
      server.store.create("pods", at < 1_000 ? "default" : "other", { kind: "Pod", metadata });
    }
    expect((await client.list("Pod", "", "")).items).to.have.length(1_001);
    expect((await client.list("Pod", "default", "of=a")).items).to.have.length(500);
    expect(server.calls.map(({ query }) => query.get("limit"))).to.deep.equal(["500", "500", "500", "500"]);
  });

  const refusals: readonly (readonly [status: number, body: string, kind: KubeErrorKind])[] = [
    [404, "404 page not found", "unknown-kind"],
    [403, '{"reason":"Forbidden","message":"no"}', "forbidden"],
    [403, '{"reason":"Forbidden","details":{"causes":[{"reason":"NamespaceTerminating"}]}}', "terminating"],
    [403, '{"reason":"Forbidden","details":{"causes":[null,7]}}', "forbidden"],
    [401, '{"reason":"Unauthorized"}', "forbidden"],
    [409, '{"reason":"AlreadyExists"}', "exists"],
    [409, '{"reason":"Conflict"}', "conflict"],
    [410, '{"reason":"Expired"}', "gone"],
    [422, '{"reason":"Invalid","message":"spec.replicas: too many"}', "invalid"],
    [400, '{"reason":"BadRequest"}', "invalid"],
    [429, '{"reason":"TooManyRequests"}', "throttled"],
    [500, '{"reason":"InternalError"}', "unavailable"],
    [500, '{"message":"failed to create typed patch object (a/b; apps/v1): field not declared"}', "invalid"],
    [503, "no upstream", "unavailable"],
  ];
  for (const [status, body, kind] of refusals) {
    it(`calls ${status} ${body} ${kind}`, async () => {
      server.before = () => ({ status, body, headers: { "retry-after": "7" } });
      const error = await errorOf(client.get(POD));
      expect([error.kind, error.status, error.retryAfterMs]).to.deep.equal([kind, status, 7_000]);
      expect(error.message).to.include("/api/v1/namespaces/default/pods/demo-0");
    });
  }

  it("tells what is wrong with a patch, without the whole object that the API server repeats before it", async () => {
    const object = JSON.stringify(JSON.stringify({ note: 'a "quoted" word', filler: "x".repeat(5_000) }));
    const cause = 'strict decoding error: unknown field "spec.template.spec.containers[0].volumeMount"';
    const message = ` "" is invalid: patch: Invalid value: ${object}: ${cause}`;
    server.before = () => ({ status: 422, body: JSON.stringify({ reason: "Invalid", message }), headers: {} });
    const error = await errorOf(client.get(POD));
    expect([error.kind, error.explanation]).to.deep.equal(["invalid", cause]);
  });

  it("reports an unknown outcome when no answer comes", async () => {
    server.before = () => "cut";
    const error = await errorOf(client.create(POD, pod()));
    expect([error.kind, error.status]).to.deep.equal(["unavailable", 0]);
  });

  it("reports it, too, when its deadline expires before an answer", async () => {
    server.before = () => "silence";
    const hasty = new KubeClient(connection, null, 50);
    const error = await errorOf(hasty.get(POD));
    expect([error.kind, error.status]).to.deep.equal(["unavailable", 0]);
  });

  it("patches, removes and evicts only the version that it names", async () => {
    const { metadata } = await client.create<Any>(POD, pod());
    const { uid, resourceVersion } = metadata;
    const changed = await client.patch<Any>(POD, { uid, resourceVersion }, { metadata: { labels: { a: "b" } } });
    expect(changed.metadata.labels).to.deep.equal({ a: "b" });
    const old = { uid, resourceVersion };
    const now = { uid, resourceVersion: changed.metadata.resourceVersion };
    for (const stale of [old, { ...now, uid: "another" }]) {
      expect((await errorOf(client.patch(POD, stale, { metadata: {} }))).kind).to.equal("conflict");
      expect((await errorOf(client.remove(POD, stale))).kind).to.equal("conflict");
      expect((await errorOf(client.patchStatus(POD, stale, {}))).kind).to.equal("conflict");
    }
    expect((await errorOf(client.evict(POD, { uid: "another" }))).kind).to.equal("conflict");
    await client.remove(POD, now);
    expect((await client.get<Any>(POD)).metadata.deletionTimestamp).to.be.a("string");
  });

  it("learns that a disruption budget refuses an eviction", async () => {
    const labels = { a: "b" };
    const ready = { conditions: [{ type: "Ready", status: "True" }] };
    const { metadata } = server.store.create(
      "pods",
      "default",
      pod({ metadata: { name: "demo-0", labels }, status: ready }),
    );
    server.store.create("poddisruptionbudgets", "default", {
      metadata: { name: "demo" },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    expect((await errorOf(client.evict(POD, { uid: metadata.uid }))).kind).to.equal("throttled");
    server.store.create("pods", "default", pod({ metadata: { name: "demo-1", labels }, status: ready }));
    await client.evict(POD, { uid: metadata.uid });
    expect((await client.get<Any>(POD)).metadata.deletionTimestamp).to.be.a("string");
  });

  it("applies its own fields, keeps the fields of others, and removes fields that it no longer wants", async () => {
    const reference = { kind: "Service", namespace: "default", name: "demo" } as const;
    const service = (annotations: object, metadata: object = {}): Any => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "demo", namespace: "default", annotations, ...metadata },
      spec: { type: "ClusterIP" },
    });
    const made = await client.apply<Any>(reference, service({ mine: "1", old: "1" }));
    server.store.merge("services", server.store.get("services", "default", "demo"), {
      metadata: { annotations: { theirs: "1" } },
      spec: { clusterIP: "10.0.0.1" },
    });
    const applied = await client.apply<Any>(reference, service({ mine: "2" }));
    expect(applied.metadata.annotations).to.deep.equal({ mine: "2", theirs: "1" });
    expect(applied.spec).to.deep.equal({ type: "ClusterIP", clusterIP: "10.0.0.1" });
    const stale = service({}, { resourceVersion: made.metadata.resourceVersion });
    expect((await errorOf(client.apply(reference, stale))).kind).to.equal("conflict");
    const query = server.calls.at(-1)?.query;
    expect(Object.fromEntries(query ?? [])).to.deep.equal({
      fieldManager: "quoin-operator",
      force: "true",
      fieldValidation: "Strict",
    });
  });

  it("replaces whole parts of a known version, and returns the result of a dry run", async () => {
    const reference = { kind: "Service", namespace: "default", name: "demo" } as const;
    const spec = { type: "ClusterIP", selector: { app: "demo", theirs: "1" } };
    const made = server.store.create("services", "default", { metadata: { name: "demo" }, spec });
    const { uid, resourceVersion } = made.metadata;
    const parts = [{ path: "/spec/selector", value: { app: "demo" } }];
    const would = await client.replace<Any>(reference, { uid, resourceVersion }, parts, { dryRun: true });
    expect(would.spec).to.deep.equal({ type: "ClusterIP", selector: { app: "demo" } });
    expect(server.store.get("services", "default", "demo").spec).to.deep.equal(spec);
    const done = await client.replace<Any>(reference, { uid, resourceVersion }, parts);
    expect(done.spec).to.deep.equal(would.spec);
    const again = client.replace(reference, { uid, resourceVersion }, parts);
    expect((await errorOf(again)).kind).to.equal("conflict");
  });

  it("writes nothing in a dry run", async () => {
    await client.apply({ kind: "Pod", namespace: "default", name: "demo-0" }, pod(), { dryRun: true });
    expect(await client.get(POD)).to.equal(null);
  });

  it("keeps its connections for further requests", async () => {
    const ports = new Set<number>();
    server.onConnection = (port) => ports.add(port);
    for (let at = 0; at < 20; at++) {
      await client.get(POD);
    }
    // A connection may be busy for a moment after its answer was read.
    expect(ports.size).to.be.at.most(2);
  });

  it("shows the token that its file has now, once the library looks again", async () => {
    const folder = temporaryDirectory();
    const tokenFile = path.join(folder, "token");
    writeFileSync(tokenFile, "first");
    const authProvider = { name: "tokenFile", config: { tokenFile } };
    const own = await connect(configOf(server.url, { authProvider }));
    expect((await own.headers()).Authorization).to.equal("Bearer first");
    await own.close();
  });

  it("watches from a version on, across pieces of lines, until the signal", async () => {
    const stop = new AbortController();
    const from = String(server.store.version);
    const seen: string[] = [];
    const watching = (async () => {
      const selection = { labelSelector: "", resourceVersion: from, durationSeconds: 60, silenceMs: 60_000 };
      for await (const { type, object } of await client.watch("Pod", "default", selection, stop.signal)) {
        seen.push(`${type} ${object.metadata?.name}`);
        if (seen.length === 3) {
          stop.abort();
        }
      }
    })();
    const { metadata } = await client.create<Any>(POD, pod({ spec: { text: "é".repeat(100_000) } }));
    server.store.create("pods", "other", pod());
    await client.remove(POD, metadata);
    server.store.drop("pods", server.store.get("pods", "default", "demo-0"));
    expect((await errorOf(watching)).kind).to.equal("unavailable");
    expect(seen).to.deep.equal(["ADDED demo-0", "MODIFIED demo-0", "DELETED demo-0"]);
  });

  it("ends a watch without an error when no line has come for long", async () => {
    const selection = { labelSelector: "", resourceVersion: String(server.store.version) };
    const { signal } = new AbortController();
    const watch = await client.watch("Pod", "", { ...selection, durationSeconds: 60, silenceMs: 200 }, signal);
    const seen: string[] = [];
    const bookmark = { metadata: { resourceVersion: "7" } };
    server.deliverEvents("BOOKMARK", bookmark);
    for await (const { type } of watch) {
      seen.push(type);
      if (seen.length < 3) {
        server.deliverEvents("BOOKMARK", bookmark);
      }
    }
    expect(seen).to.deep.equal(["BOOKMARK", "BOOKMARK", "BOOKMARK"]);
    await until(() => server.watches === 0);
  });
});
