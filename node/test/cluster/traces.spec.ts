import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { ClusterUnderTest, type CollectedSpan, TraceCollector, until } from "../harness/index.ts";

/** Requests that take as long are slow. */
const SLOW_MS = 400;

/** A traceparent of a new trace. */
function newTrace(flags: "00" | "01"): {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
} {
  const traceId = randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

describe("traces of a cluster", () => {
  let collector: TraceCollector;
  let cluster: ClusterUnderTest;

  before(async () => {
    collector = await TraceCollector.open();
    cluster = await ClusterUnderTest.start(3, {
      placementOf: async () => ({
        flags: ["--trace-endpoint", collector.endpoint, "--trace-ratio", "0", "--trace-slow-ms", String(SLOW_MS)],
        environment: {
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
          OTEL_RESOURCE_ATTRIBUTES: "deployment=test",
          OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
        },
      }),
    });
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(async () => {
    await cluster.dispose();
    await collector.close();
  });

  /** The tree of a trace, one span a line: the member, the kind and the name, below its parent. */
  function treeOf(traceId: string, parentId: string, indent = ""): string[] {
    return collector
      .trace(traceId)
      .filter((span) => span.parentId === parentId)
      .map((span) => ({ span, text: `${span.resource["quoin.member"]} ${span.kind} ${span.name}` }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .flatMap(({ span, text }) => [`${indent}${text}`, ...treeOf(traceId, span.spanId, `${indent}  `)]);
  }

  const named = (traceId: string, name: string): CollectedSpan[] =>
    collector.trace(traceId).filter((span) => span.name === name);

  it("show a put through a follower as one tree, from the call to the disks of all members", async () => {
    const [leader, follower] = [await cluster.leader(), await cluster.follower()];
    const other = cluster.members.find((member) => member !== leader && member !== follower);
    const client = cluster.client([follower.grpc]);
    await client.keyValue.put("default", "warm", "up");
    const { traceId, spanId, traceparent } = newTrace("01");
    await client.keyValue.put("default", "a key", "its value", { traceparent });
    await until("all spans of the put", () => collector.trace(traceId).length >= 13);

    expect(treeOf(traceId, spanId)).to.deep.equal([
      `${follower.name} server coordination.v1.KeyValueService/PutKey`,
      `  ${follower.name} internal quoin.propose`,
      `    ${follower.name} client quoin.forward`,
      `      ${leader.name} server quoin.lead`,
      `        ${leader.name} client quoin.replicate`,
      ...[follower, other]
        .map((member) => member?.name ?? "")
        .sort()
        .flatMap((name) => [`          ${name} server quoin.follow`, `            ${name} internal quoin.log.write`]),
      `        ${leader.name} internal quoin.apply`,
      `        ${leader.name} internal quoin.log.write`,
      `    ${follower.name} internal quoin.apply`,
      `    ${follower.name} internal quoin.queue`,
    ]);

    const [call] = named(traceId, "coordination.v1.KeyValueService/PutKey");
    expect(call?.attributes).to.include({
      "rpc.system": "grpc",
      "rpc.service": "coordination.v1.KeyValueService",
      "rpc.method": "PutKey",
      "rpc.grpc.status_code": 0,
      "quoin.namespace": "default",
    });
    expect(call?.resource).to.include({ "service.name": "quoin", "quoin.cluster": "under-test", deployment: "test" });
    expect(call?.events.map(({ name }) => name)).to.deep.equal(["request admitted", "request complete"]);
    // Members of one machine share a clock: what happens below a span happens within the call.
    for (const span of collector.trace(traceId)) {
      expect(span.fromNs >= (call?.fromNs ?? 0n), span.name).to.equal(true);
      expect(span.toNs >= span.fromNs, span.name).to.equal(true);
    }
    // Each write of a log is a span of its own, which all traces in it share. It is exported last.
    await until("the writes of the logs", () =>
      named(traceId, "quoin.log.write").every(({ links }) =>
        collector.spans.some((span) => span.spanId === links[0]?.spanId),
      ),
    );
    for (const { spanId: id, links } of named(traceId, "quoin.log.write")) {
      const [link] = links;
      const group = collector.spans.find((span) => span.spanId === link?.spanId);
      expect([group?.name, group?.traceId, group?.parentId]).to.deep.equal([
        "quoin.log.group_commit",
        link?.traceId,
        "",
      ]);
      expect(group?.links).to.deep.include({ traceId, spanId: id });
    }
    expect(
      JSON.stringify(collector.spans, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    ).to.not.match(/a key|its value/);
  });

  it("show what a read, a lock and a request over HTTP waited for", async () => {
    const follower = await cluster.follower();
    const client = cluster.client([follower.grpc]);
    const [read, waiting, created] = [newTrace("01"), newTrace("01"), newTrace("01")];
    await client.keyValue.get("default", "a key", { traceparent: read.traceparent });
    await client.locks.create("default", "a lock");
    const hold = await client.locks.acquire("default", "a lock", { ttlSeconds: 30 });
    const turn = client.locks.acquire("default", "a lock", {
      ttlSeconds: 30,
      waitMs: 20_000,
      traceparent: waiting.traceparent,
    });
    await until("the request to wait", async () => {
      const { waiters } = await client.locks.describe("default", "a lock");
      return waiters === 1;
    });
    await client.locks.release("default", "a lock", { fencingToken: hold.fencingToken });
    await turn;
    const answer = await fetch(`http://${follower.host}:${follower.ports.http}/logs`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await cluster.tokens.token()}`,
        "content-type": "application/json",
        traceparent: created.traceparent,
      },
      body: JSON.stringify({ name: "a-log" }),
    });
    expect(answer.status).to.equal(201);
    // Each member exports its spans at its own time.
    await until(
      "the spans of all three",
      () =>
        [read, created].every(({ traceId, spanId }) => treeOf(traceId, spanId).length > 1) &&
        named(waiting.traceId, "quoin.lock.wait").length > 0,
    );
    expect(treeOf(read.traceId, read.spanId).map((line) => line.split(" ").at(-1))).to.deep.equal([
      "coordination.v1.KeyValueService/GetKey",
      "quoin.read",
    ]);
    expect(named(waiting.traceId, "quoin.lock.wait")).to.have.length(1);
    const [call] = collector.trace(created.traceId).filter(({ parentId }) => parentId === created.spanId);
    expect([call?.name, call?.attributes["http.response.status_code"]]).to.deep.equal(["POST /logs", 201]);
  });

  it("include a slow request that its client has not sampled, with the spans of all members", async () => {
    const leader = await cluster.leader();
    const client = cluster.client([leader.grpc]);
    await client.keyValue.put("default", "warm", "up");
    const { traceId, traceparent } = newTrace("00");
    const others = cluster.members.filter((member) => member !== leader);
    for (const member of others) {
      member.pause();
    }
    const begunMs = performance.now();
    const put = client.keyValue.put("default", "a key", "its value", { traceparent });
    await until("the put to be slow", () => performance.now() - begunMs > 1.2 * SLOW_MS);
    for (const member of others) {
      member.resume();
    }
    await put;
    await until("the spans of the leader and of the other members", () =>
      ["quoin.replicate", "quoin.log.write", "quoin.follow"].every((name) => named(traceId, name).length > 0),
    );
    expect(named(traceId, "quoin.replicate")[0]?.events.map(({ name }) => name)).to.include("acknowledged");
  });

  it("harm nothing while the collector does not answer, and go on afterwards", async () => {
    const client = cluster.client();
    collector.mode = "silent";
    const requests = collector.requests.length;
    const puts = Array.from({ length: 100 }, (_, at) =>
      client.keyValue.put("default", `key ${at}`, "v", { traceparent: newTrace("01").traceparent }),
    );
    await until("the collector to be asked", () => collector.requests.length > requests);
    await Promise.all(puts);
    collector.mode = "take";
    const { traceId, traceparent } = newTrace("01");
    await client.keyValue.put("default", "a key", "its value", { traceparent });
    await until("the trace", () => named(traceId, "quoin.propose").length === 1);
  });
});
