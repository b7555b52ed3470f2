/**
 * `node node/test/process/half-open-calls.ts --connections 21 --streams 12000`: the effect of calls without a message
 * and without a token on a member with a heap of 1 GiB, and on another client's writes. Prints memory and the latency
 * of writes.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { temporaryDirectory } from "../../../testing/index.ts";
import { GrpcCaller, HalfOpenConnection, MemberUnderTest, pause, TestProcess } from "../harness/index.ts";

const { putKey } = serviceDefinitions.KeyValueService;
const HEAP_MEBIBYTES = 1024;
const CALLS_PER_STEP = 500;
/** Another address than that of the client with the measured writes. */
const ATTACKER = "127.0.0.2";
const PHASE_MS = 10_000;

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "21" },
    streams: { type: "string", default: "12000" },
    seconds: { type: "string", default: "75" },
    /** Only attacks the member at this port. */
    attack: { type: "string" },
  },
});
const [connections, streams, attackMs] = [
  Number(values.connections),
  Number(values.streams),
  Number(values.seconds) * 1000,
];

await (values.attack === undefined ? measure() : attack(Number(values.attack)));

async function attack(port: number): Promise<void> {
  const open: HalfOpenConnection[] = [];
  for (let made = 0; made < connections; made++) {
    open.push(await HalfOpenConnection.open({ port, from: ATTACKER, path: putKey.path }));
  }
  for (let step = 0; step < streams; step += CALLS_PER_STEP) {
    await Promise.all(open.map((connection) => connection.openCalls(CALLS_PER_STEP)));
  }
  console.log("all calls are open");
  await pause(attackMs);
  const answered = open.reduce((sum, connection) => sum + connection.answered, 0);
  const closed = open.filter(({ isClosed }) => isClosed).length;
  console.log(`${answered} calls answered, ${closed} of ${connections} connections closed by the member`);
  process.exit();
}

async function measure(): Promise<void> {
  process.env.NODE_OPTIONS = `--max-old-space-size=${HEAP_MEBIBYTES}`;
  const member = new MemberUnderTest(temporaryDirectory());
  try {
    const listening = await member.start();
    const metadata = new Map([
      ["authorization", `Bearer ${await member.token(listening)}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(listening.grpc, metadata);
    const memory = (): string => {
      const status = member.process.hasEnded ? "" : readFileSync(`/proc/${member.process.pid}/status`, "utf8");
      return /VmRSS:\s+(\d+ kB)/.exec(status)?.[1] ?? "gone";
    };
    const write = async (phase: string, durationMs: number): Promise<void> => {
      const latenciesMs: number[] = [];
      let failed = 0;
      const endMs = performance.now() + durationMs;
      while (performance.now() < endMs && !member.process.hasEnded) {
        const begunMs = performance.now();
        const put = PutKeyRequest.fromPartial({ namespace: "default", key: "k" });
        const { code } = await caller.call(putKey, put, { timeoutMs: 10_000 });
        failed += code === "OK" ? 0 : 1;
        latenciesMs.push(performance.now() - begunMs);
      }
      latenciesMs.sort((a, b) => a - b);
      const p99 = latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Number.NaN;
      console.log(
        `${phase}: ${latenciesMs.length} writes, ${failed} failed, p99 ${p99.toFixed(1)} ms, memory ${memory()}`,
      );
    };
    await write("before", PHASE_MS);
    const args = ["--attack", listening.grpc.split(":")[1] ?? "", "--connections", `${connections}`];
    const attacker = new TestProcess(fileURLToPath(import.meta.url), [
      ...[...args, "--streams", `${streams}`, "--seconds", values.seconds],
    ]);
    for (let elapsedMs = 0; elapsedMs < attackMs && !member.process.hasEnded; elapsedMs += PHASE_MS) {
      await write("under attack", PHASE_MS);
    }
    if (member.process.hasEnded) {
      const { code, signal } = await member.process.ended;
      const [reason = ""] = /FATAL ERROR.*/.exec(member.process.stderr) ?? [];
      console.log(`the member has ended: code ${code}, signal ${signal}, ${reason}`);
      await attacker.dispose();
    } else {
      await attacker.ended;
      console.log(attacker.stdout);
      await write("after", PHASE_MS);
    }
    caller.close();
  } finally {
    await member.kill();
  }
}
