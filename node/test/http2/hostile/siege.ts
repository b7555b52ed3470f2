/**
 * A member under attack, while another client writes and reads. Each attack is judged: the member lives, and its memory
 * stays within a bound. It closes the right connections, counts that, and logs it with the reason and the address. No
 * call of the other client fails.
 */
import { fileURLToPath } from "node:url";
import { type Listening, MemberUnderTest, pause, TestProcess, until } from "../../harness/index.ts";
import type { Attack, AttackScale } from "./attack.ts";
import {
  closureLines,
  MemoryWatch,
  type Metrics,
  memoryMebibytes,
  processorSeconds,
  readMetrics,
} from "./member-vitals.ts";
import { type Experience, WellBehavedClient } from "./well-behaved-client.ts";

const ATTACKER = fileURLToPath(new URL("attacker.ts", import.meta.url));
const MS_PER_SECOND = 1_000;
/** Time for the member to notice that connections are gone. */
const QUIET_POLL_MS = 60_000;
/** The member logs no two closures for one reason within this time. */
const LOG_INTERVAL_MS = 1_000;

export interface SiegeRow {
  readonly attack: string;
  /** What the attacker did, in words. */
  readonly deed: string;
  readonly seconds: number;
  readonly memoryMebibytes: { readonly before: number; readonly peak: number; readonly after: number };
  /** Share of one processor. */
  readonly processorShare: number;
  readonly experience: Experience;
  /** Connections that the member closed, and streams that it refused, by reason. */
  readonly counted: ReadonlyMap<string, number>;
  readonly closuresLogged: number;
  /** The failed requirements; [] if there are none. */
  readonly complaints: readonly string[];
}

export class Siege {
  readonly #member: MemberUnderTest;
  readonly #listening: Listening;
  readonly #token: string;
  readonly #client: WellBehavedClient;

  private constructor(member: MemberUnderTest, listening: Listening, token: string) {
    this.#member = member;
    this.#listening = listening;
    this.#token = token;
    this.#client = new WellBehavedClient(listening.grpc, token);
  }

  static async begin(directory: string): Promise<Siege> {
    const member = new MemberUnderTest(directory);
    try {
      const listening = await member.start();
      const siege = new Siege(member, listening, await member.token(listening));
      await siege.#client.start();
      return siege;
    } catch (error) {
      await member.kill();
      throw error;
    }
  }

  /** Runs the other client alone, for this long. */
  async quiet(durationMs: number): Promise<Experience> {
    this.#client.take();
    await pause(durationMs);
    return this.#client.take();
  }

  async attack(attack: Attack, scale: AttackScale): Promise<SiegeRow> {
    await this.#untilLoggable(attack.closeReasons);
    const { pid } = this.#member.process;
    const before = await readMetrics(this.#listening.health);
    const logged = this.#member.process.stdout.length;
    const memoryBefore = memoryMebibytes(pid);
    const memory = new MemoryWatch(pid);
    const processorBefore = processorSeconds(pid);
    const begunMs = performance.now();
    this.#client.take();
    const port = this.#listening.grpc.split(":")[1] ?? "";
    const attacker = new TestProcess(ATTACKER, [attack.name, port, JSON.stringify(scale)], {
      env: { ...process.env, QUOIN_TOKEN: this.#token },
    });
    let experience: Experience;
    try {
      await Promise.race([attacker.ended, this.#member.process.ended]);
      experience = this.#client.take();
    } finally {
      memory.stop();
      await attacker.dispose();
    }
    if (this.#member.process.hasEnded) {
      throw new Error(`the member has ended under the attack "${attack.name}":\n${this.#member.process.stderr}`);
    }
    const seconds = (performance.now() - begunMs) / MS_PER_SECOND;
    const processorShare = (processorSeconds(pid) - processorBefore) / seconds;
    const after = await this.#untilQuiet();
    const counted = difference(before, after);
    const expected = attack.closeReasons.filter((reason) => counted.has(reason));
    if (expected.length > 0) {
      await this.#untilLogged(logged, expected);
    }
    const row = {
      attack: attack.name,
      deed: attacker.stdout,
      seconds,
      processorShare,
      experience,
      memoryMebibytes: { before: memoryBefore, peak: memory.peakMebibytes, after: memoryMebibytes(pid) },
      counted,
      closures: closureLines(completeLines(this.#member.process.stdout.slice(logged))),
      attackerError: attacker.stderr,
    };
    const { closures, attackerError: _, ...shown } = row;
    return { ...shown, closuresLogged: closures.length, complaints: complaintsOf(attack, scale, row) };
  }

  /** Waits until the member would log a closure for each of these reasons, also if the attack is over at once. */
  async #untilLoggable(reasons: readonly string[]): Promise<void> {
    const logged = closureLines(completeLines(this.#member.process.stdout));
    const last = logged.findLast(({ reason }) => reasons.includes(reason));
    if (last !== undefined) {
      await pause(Math.max(0, Date.parse(last.time) + LOG_INTERVAL_MS - Date.now()));
    }
  }

  /** Waits for a line of the log, behind this many characters, about one of these reasons: it arrives by a pipe. */
  #untilLogged(behind: number, reasons: readonly string[]): Promise<boolean> {
    return until(`the log to say that a connection was closed because of ${reasons.join(" or ")}`, () =>
      closureLines(completeLines(this.#member.process.stdout.slice(behind))).some(({ reason }) =>
        reasons.includes(reason),
      ),
    );
  }

  async end(): Promise<void> {
    try {
      await this.#client.stop();
    } finally {
      await this.#member.kill();
    }
  }

  /** Waits until only the other client's connection is left, and returns the metrics. */
  #untilQuiet(): Promise<Metrics> {
    return until(
      "the end of all connections of the attacker",
      async () => {
        const metrics = await readMetrics(this.#listening.health);
        return metrics.get("quoin_http2_connections") === 1 ? metrics : null;
      },
      QUIET_POLL_MS,
    );
  }
}

/** The text up to its last end of a line. */
function completeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The growth of the counters of connections and streams, by reason. */
function difference(before: Metrics, after: Metrics): Map<string, number> {
  const grown = new Map<string, number>();
  for (const [name, value] of after) {
    const [, reason] = /^quoin_http2_(?:connections_closed|streams_refused)_total\{reason="([^"]*)"/.exec(name) ?? [];
    const growth = value - (before.get(name) ?? 0);
    if (reason !== undefined && growth > 0) {
      grown.set(reason, growth);
    }
  }
  return grown;
}

interface Evidence {
  readonly memoryMebibytes: SiegeRow["memoryMebibytes"];
  readonly experience: Experience;
  readonly counted: ReadonlyMap<string, number>;
  readonly closures: readonly { readonly reason: string; readonly address: string }[];
  readonly attackerError: string;
}

function complaintsOf(attack: Attack, scale: AttackScale, evidence: Evidence): string[] {
  const { memoryMebibytes: memory, experience, counted, closures, attackerError } = evidence;
  const complaints: string[] = [];
  if (attackerError !== "") {
    complaints.push(`the attacker failed: ${attackerError}`);
  }
  const growth = memory.peak - memory.before;
  const bound = attack.memoryMebibytesMax(scale);
  if (growth > bound) {
    complaints.push(`its memory grew by ${growth.toFixed(0)} MiB, more than ${bound} MiB`);
  }
  if (experience.failures.length > 0) {
    complaints.push(`${experience.failures.length} calls of the other client failed, first ${experience.failures[0]}`);
  }
  const { closeReasons, refusal } = attack;
  if (closeReasons.length > 0) {
    if (!closeReasons.some((reason) => counted.has(reason))) {
      complaints.push(`no connection was counted as closed because of ${closeReasons.join(" or ")}`);
    }
    if (
      !closures.some(
        ({ reason, address }) => closeReasons.includes(reason as never) && address.startsWith("127.0.0.2:"),
      )
    ) {
      const found = closures.map(({ reason, address }) => `${reason} of ${address}`).join(", ");
      complaints.push(`the log has no line of ${closeReasons.join(" or ")} with the address, only: ${found}`);
    }
  }
  if (refusal !== null && !counted.has(refusal)) {
    complaints.push(`no stream was counted as refused because of ${refusal}`);
  }
  return complaints;
}
