/**
 * Rounds of kill -9: a member under load is ended at a random moment and started again; nothing acknowledged may be
 * lost, nothing applied twice.
 */

import { seededRandom } from "../../src/replica/index.ts";
import { MemberUnderTest, pause } from "../harness/index.ts";
import { ExactlyOnceLoad } from "./exactly-once-load.ts";

export interface KillRoundsOptions {
  readonly directory: string;
  readonly rounds: number;
  readonly seed: number;
  /** Told after each round. */
  readonly onRound?: (round: number, load: ExactlyOnceLoad) => void;
}

export interface KillRoundsSummary {
  readonly rounds: number;
  /** Kills before the member was ready, of all. */
  readonly killedAtStart: number;
  readonly acknowledged: number;
  /** Puts that had been executed although their acknowledgement was lost. */
  readonly replayed: number;
}

const CLIENTS = 16;
const KEYS = 20;
/** A round is killed after up to so many acknowledgements, and then up to so many milliseconds. */
const ACKNOWLEDGEMENTS_MAX = 400;
const PAUSE_MS_MAX = 20;
/** One round in so many is killed while the member starts, within this time. */
const START_KILL_SHARE = 5;
const START_PAUSE_MS_MAX = 900;

/** Runs the rounds; rejects at the first one that shows a loss or a repetition. Ends every process that it started. */
export async function runKillRounds(options: KillRoundsOptions): Promise<KillRoundsSummary> {
  const random = seededRandom(options.seed);
  const member = new MemberUnderTest(options.directory);
  const load = new ExactlyOnceLoad(random, KEYS);
  let killedAtStart = 0;
  try {
    await member.compile();
    // Founding is one of the things that may be cut short, so the first start is not spared.
    for (let round = 1; round <= options.rounds; round++) {
      if (random(START_KILL_SHARE) === 0) {
        killedAtStart++;
        member.spawn();
        await pause(random(START_PAUSE_MS_MAX));
        await member.kill();
      }
      const listening = await member.start();
      const token = await member.token(listening);
      await load.settle(listening.grpc, token);
      await load.verify(listening.grpc, token);
      const killAt = load.acknowledged + random(ACKNOWLEDGEMENTS_MAX);
      const pauseMs = random(PAUSE_MS_MAX);
      let killed: Promise<void> | null = null;
      const kill = (): void => {
        if (killed === null && load.acknowledged >= killAt) {
          killed = pause(pauseMs).then(() => member.kill());
        }
      };
      await load.run(listening.grpc, token, CLIENTS, kill);
      if (killed === null) {
        throw new Error(`round ${round}: the member stopped answering before it was killed`);
      }
      await killed;
      options.onRound?.(round, load);
    }
    const listening = await member.start();
    const token = await member.token(listening);
    await load.settle(listening.grpc, token);
    await load.verify(listening.grpc, token);
    return { rounds: options.rounds, killedAtStart, acknowledged: load.acknowledged, replayed: load.replayed };
  } finally {
    await member.kill();
  }
}
