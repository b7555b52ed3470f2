/**
 * `node node/test/cluster/backup-cost.ts --mebibytes 1024 --keys 0`: fills a cluster of three with values of one MiB, and with
 * `--keys` values of 100 bytes. Then it takes a backup into a directory while clients write. It prints the durations of the
 * backup, its verification and its restore, and the latency of writes before, during and after the backup.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Client } from "@quoin/client";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type ClusterMember, ClusterUnderTest, MEMBER_PROGRAM, until } from "../harness/index.ts";
import { writeMebibytes } from "./bulk.ts";

/** Enough for a meaningful p99. */
const PUTS_MEASURED = 5_000;
const PUTS_WARM = 500;
const PUTTERS = 4;
const KEYS_IN_FLIGHT = 256;
const VALUE = Buffer.alloc(100, "value");
const BACKUP_LIMIT_MS = 30 * 60_000;
const PUTS_LIMIT_MS = 10 * 60_000;
const VERIFIED = /^quoin_backup_verified_timestamp_seconds\{[^}]*result="succeeded"[^}]*\} (\S+)$/m;

const { values } = parseArgs({
  options: {
    mebibytes: { type: "string", default: "1024" },
    keys: { type: "string", default: "0" },
  },
});
const [mebibytes, keys] = [Number(values.mebibytes), Number(values.keys)];

async function writeKeys(client: Client): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < keys; at = next++) {
      await client.keyValue.put("default", `small-${at}`, VALUE, { timeoutMs: 30_000 });
    }
  };
  await Promise.all(Array.from({ length: KEYS_IN_FLIGHT }, work));
}

/** Puts small values, a few at a time, until `stop`. Fails if one of the puts fails. */
class Puts {
  readonly #finished: { readonly endMs: number; readonly durationMs: number }[] = [];
  readonly #ended: Promise<unknown>;
  #isStopping = false;

  constructor(client: Client) {
    this.#ended = Promise.all(Array.from({ length: PUTTERS }, (_, putter) => this.#work(client, putter)));
    this.#ended.catch(() => undefined);
  }

  async untilDone(more: number): Promise<void> {
    const enough = this.#finished.length + more;
    const isEnough = () => until(`${more} puts`, () => this.#finished.length >= enough, PUTS_LIMIT_MS);
    await Promise.race([isEnough(), this.#ended]);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended;
  }

  /** Durations in milliseconds of the puts that ended between two times of `performance.now()`. */
  between(fromMs: number, toMs: number): { readonly p50: number; readonly p99: number; readonly count: number } {
    const times = this.#finished.filter(({ endMs }) => endMs >= fromMs && endMs < toMs).map((put) => put.durationMs);
    times.sort((one, other) => one - other);
    const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99), count: times.length };
  }

  async #work(client: Client, putter: number): Promise<void> {
    while (!this.#isStopping) {
      const startMs = performance.now();
      await client.keyValue.put("default", `put-${putter}`, VALUE, { timeoutMs: 30_000 });
      const endMs = performance.now();
      this.#finished.push({ endMs, durationMs: endMs - startMs });
    }
  }
}

async function backUp({ admin }: ClusterMember) {
  const id = await admin.startBackup();
  return until(
    "the backup to end",
    async () => {
      const { run } = await admin.getBackupStatus(id);
      return (run?.endedMs ?? 0) > 0 ? run : null;
    },
    BACKUP_LIMIT_MS,
  );
}

/** Waits until the member has read the backup back. */
async function readBack({ host, ports }: ClusterMember): Promise<void> {
  const isDone = async () => {
    const metrics = await (await fetch(`http://${host}:${ports.health}/metrics`)).text();
    return Number(VERIFIED.exec(metrics)?.[1] ?? 0) > 0;
  };
  await until("the backup to be read back", isDone, BACKUP_LIMIT_MS);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

/** Runs a command on the backup, without a member, and prints how long it takes. @returns its exit code */
function offline(what: string, args: readonly string[]): number {
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [MEMBER_PROGRAM, ...args], { encoding: "utf8" });
  console.log(`${what} in ${seconds(performance.now() - startMs)}: exit code ${status}\n${stdout}${stderr}`);
  return status ?? 1;
}

const directory = temporaryDirectory();
const store = join(directory, "store");
mkdirSync(store);
const placement = { flags: ["--backup-store", store] };
await ClusterUnderTest.with(
  3,
  async (cluster) => {
    const client = cluster.client();
    await writeMebibytes(client, mebibytes, (writes) => writes >= mebibytes);
    await writeKeys(client);
    const puts = new Puts(client);
    await puts.untilDone(PUTS_WARM);
    const beforeMs = performance.now();
    await puts.untilDone(PUTS_MEASURED);
    const follower = await cluster.follower();
    const startMs = performance.now();
    const run = await backUp(follower);
    const endMs = performance.now();
    await readBack(follower);
    const readMs = performance.now();
    await puts.untilDone(PUTS_MEASURED);
    await puts.stop();
    console.log(
      `backup in ${seconds(endMs - startMs)}: ${run?.phase} ${run?.error}, ${run?.rows} rows, ${run?.bytes} bytes; ` +
        `read back in ${seconds(readMs - endMs)}`,
    );
    const before = puts.between(beforeMs, startMs);
    for (const [name, fromMs, toMs] of [
      ["before", beforeMs, startMs],
      ["during the backup", startMs, endMs],
      ["while it is read back", endMs, readMs],
      ["after", readMs, performance.now()],
    ] as const) {
      const { p50, p99, count } = puts.between(fromMs, toMs);
      const ratio = (p99 / before.p99).toFixed(2);
      console.log(`${name}: ${count} puts, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${ratio} times before`);
    }
  },
  { placementOf: async () => placement },
);
const verified = offline("verified", ["backup", "verify", store]);
const data = ["--data-dir", join(directory, "restored"), "--name", "q-0"];
process.exitCode = verified || offline("restored", ["restore", store, ...data]);
