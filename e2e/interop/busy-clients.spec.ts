/**
 * Busy clients on grpc-java and tonic, with hundreds of calls in flight on one connection: none of their calls fails, and
 * the member ends none of their connections and none of their streams. Without Java or Rust they are skipped, with the
 * reason.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { LocalConformanceCluster } from "../../node/verify/conformance/index.ts";
import { until } from "../../testing/index.ts";
import { type Command, javaClient, rustClient, ToolMissing } from "./built-client.ts";

/** The first run downloads packages and builds the client, which takes two minutes of a processor. */
const START_LIMIT_MS = 900_000;
const END_LIMITS = { limitMs: 30_000, pollMs: 50 };
/** Pattern, calls in flight, calls, bytes of a value. A page has at most 1 MiB. */
const STEPS = [
  "put:300:2000:100",
  "get:300:3000:100",
  "get:300:1000:16384",
  "list:100:150:16384",
  "watch:100:2000:100",
];
/** A connection that its client has closed, and a stream that the member has refused. */
const CLOSED = /^quoin_http2_connections_closed_total\{reason="(.+)"\} ([1-9]\d*)$/gm;
const REFUSED = /^quoin_http2_streams_refused_total\{.+\} [1-9]\d*$/gm;

const execute = promisify(execFile);

describe("a busy client at one member", function () {
  this.timeout(START_LIMIT_MS);
  let cluster: LocalConformanceCluster | undefined;
  let endpoint: string;
  let metricsUrl: string;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    cluster = await LocalConformanceCluster.start();
    const { endpoints, httpEndpoints, token } = await cluster.target();
    endpoint = endpoints[0] ?? expect.fail("a cluster has members");
    metricsUrl = `http://${httpEndpoints[0]}/metrics`;
    environment = { ...process.env, QUOIN_TOKEN: token };
  });

  after(() => cluster?.remove());

  /** How many connections were closed, by reason. */
  function closuresIn(metrics: string): ReadonlyMap<string, number> {
    return new Map([...metrics.matchAll(CLOSED)].map(([, reason = "", count]) => [reason, Number(count)]));
  }

  const clients: Readonly<Record<string, () => Promise<Command>>> = { "grpc-java": javaClient, tonic: rustClient };
  for (const [library, build] of Object.entries(clients)) {
    it(`on ${library} has an answer to each of its calls, on a connection that it closes itself`, async function () {
      const [program, ...args] = await build().catch((error: unknown) => {
        if (!(error instanceof ToolMissing)) {
          throw error;
        }
        console.log(`skipped: ${error.message}`);
        return this.skip();
      });
      const metrics = async () => (await fetch(metricsUrl)).text();
      const before = closuresIn(await metrics());
      await execute(program, [...args, endpoint, ...STEPS], { env: environment });
      const ofClient = ["peer-closed", "peer-went-away"];
      const sum = (closures: ReadonlyMap<string, number>) =>
        ofClient.reduce((total, reason) => total + (closures.get(reason) ?? 0), 0);
      let after = "";
      const isClosed = async () => {
        after = await metrics();
        return sum(closuresIn(after)) > sum(before);
      };
      await until("the end of the connection", isClosed, END_LIMITS);
      expect(ofClient).to.include.members([...closuresIn(after).keys()]);
      expect(after.match(REFUSED)).to.equal(null);
    });
  }
});
