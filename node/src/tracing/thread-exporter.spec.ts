import { expect } from "chai";
import { TraceCollector } from "../../test/harness/index.ts";
import type { OtlpOptions } from "./otlp-exporter.ts";
import { type Span, spanOf } from "./span.ts";
import { ThreadExporter } from "./thread-exporter.ts";

const MEMBER = { version: "1.2.3", member: "q-7", cluster: "demo" };
const PARENT = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", parentId: "00f067aa0ba902b7", state: "a=1" };
const LINK = { traceId: "a".repeat(32), spanId: "b".repeat(16) };

describe("export of spans", function () {
  this.timeout(20_000);
  let collector: TraceCollector;
  const exporters: ThreadExporter[] = [];
  let wallMs: number;
  let elapsedMs: number;

  beforeEach(async () => {
    collector = await TraceCollector.open();
    wallMs = 1_750_000_001_000;
    elapsedMs = 0;
  });

  afterEach(async () => {
    await Promise.all(exporters.splice(0).map((exporter) => exporter.shutdown()));
    await collector.close();
  });

  function exporterTo(url: string, changes: Partial<OtlpOptions> = {}): ThreadExporter {
    const clocks = {
      monotonicMs: () => 1_000 + elapsedMs,
      wallMs: () => wallMs + elapsedMs,
      originMs: 1_750_000_000_000.5,
    };
    const exporter = new ThreadExporter({ url, protocol: "http/json", ...MEMBER, ...changes }, clocks);
    exporters.push(exporter);
    return exporter;
  }

  const exported = (exporter: ThreadExporter, spans: readonly Span[]): Promise<Error | null> =>
    new Promise((resolve) => exporter.export(spans, resolve));

  it("sends everything about a span", async () => {
    const span = spanOf(
      { ...PARENT, hasRemoteParent: true },
      {
        name: "quoin.lead",
        kind: "server",
        fromMs: 1_000.25,
        toMs: 1_002,
        error: "late",
        attributes: { "quoin.index": 7, "quoin.log.write_ms": 0.5, "quoin.reason": "NO_LEADER" },
        events: [{ name: "appended", atMs: 1_001, attributes: { "quoin.member_id": 2 } }],
        links: [LINK],
      },
    );
    expect(await exported(exporterTo(`${collector.endpoint}/v1/traces`), [span])).to.equal(null);
    const [received] = collector.spans;
    expect(received).to.deep.include({
      traceId: PARENT.traceId,
      spanId: span.spanId,
      parentId: PARENT.parentId,
      state: "a=1",
      name: "quoin.lead",
      kind: "server",
      error: "late",
      events: [{ name: "appended", atNs: 1_750_000_001_001_500_000n, attributes: { "quoin.member_id": 2 } }],
      links: [LINK],
      fromNs: 1_750_000_001_000_750_000n,
      toNs: 1_750_000_001_002_500_000n,
      attributes: { "quoin.index": 7, "quoin.log.write_ms": 0.5, "quoin.reason": "NO_LEADER" },
    });
    expect(received?.resource).to.include({
      "service.name": "quoin",
      "service.version": "1.2.3",
      "service.instance.id": "q-7",
      "quoin.cluster": "demo",
      "quoin.member": "q-7",
    });
  });

  it("follows the wall clock when it was set", async () => {
    wallMs += 60_000;
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1_000, toMs: 1_001 });
    expect(await exported(exporterTo(`${collector.endpoint}/v1/traces`), [span])).to.equal(null);
    expect(collector.spans[0]?.fromNs).to.equal(1_750_000_061_000_000_000n);
  });

  it("reports a collector that refuses, and goes on when it takes spans again", async () => {
    const exporter = exporterTo(`${collector.endpoint}/v1/traces`);
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1, toMs: 2 });
    collector.mode = "refuse";
    expect(await exported(exporter, [span])).to.be.instanceOf(Error);
    collector.mode = "take";
    expect(await exported(exporter, [span])).to.equal(null);
    expect(collector.spans).to.have.length(1);
  });

  it("speaks protobuf unless JSON is wanted", async () => {
    const exporter = exporterTo(`${collector.endpoint}/v1/traces`, { protocol: "http/protobuf" });
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1, toMs: 2 });
    // This collector understands only JSON.
    expect(await exported(exporter, [span])).to.be.instanceOf(Error);
    expect(collector.requests[0]?.["content-type"]).to.equal("application/x-protobuf");
  });

  it("fails its batch when the thread ends, and starts another one after a pause", async () => {
    const exporter = exporterTo(`${collector.endpoint}/v1/traces`);
    const impossible = {
      ...spanOf({ ...PARENT, hasRemoteParent: true }, { name: "x", fromMs: 1, toMs: 2 }),
      links: null,
    };
    expect(await exported(exporter, [impossible as unknown as Span])).to.be.instanceOf(Error);
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1, toMs: 2 });
    elapsedMs = 9_999;
    expect((await exported(exporter, [span]))?.message).to.include("the next one is not due");
    elapsedMs = 10_000;
    expect(await exported(exporter, [span])).to.equal(null);
    expect(collector.requests).to.have.length(1);
  });

  it("fails a batch that cannot be handed to the thread, and goes on", async () => {
    const exporter = exporterTo(`${collector.endpoint}/v1/traces`);
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1, toMs: 2 });
    const impossible = { ...span, attributes: { function: () => undefined } };
    expect(await exported(exporter, [impossible as unknown as Span])).to.be.instanceOf(Error);
    expect(await exported(exporter, [span])).to.equal(null);
  });

  it("sends a batch again when the collector is overloaded, and gives up in time", async () => {
    const exporter = exporterTo(`${collector.endpoint}/v1/traces`);
    const span = spanOf({ ...PARENT, hasRemoteParent: true }, { name: "quoin.lead", fromMs: 1, toMs: 2 });
    for (const status of [429, 503] as const) {
      collector.requests.length = 0;
      collector.overload = { status, times: 1 };
      expect(await exported(exporter, [span])).to.equal(null);
      expect(collector.requests).to.have.length(2);
    }
    expect(collector.spans).to.have.length(2);
  });
});
