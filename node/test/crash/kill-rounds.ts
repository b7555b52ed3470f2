/**
 * Rounds of kill -9: a member under load is ended at a random moment and started again. No acknowledged write may be
 * lost, and none applied twice.
 */

import { seededRandom } from "../../src/replica/index.ts";
import { MemberUnderTest, pause } from "../harness/index.ts";
import { ExactlyOnceLoad } from "./exactly-once-load.ts";

export interface KillRoundsOptions {
  readonly directory: string;
  readonly rounds: number;
  readonly seed: number;
  /** Called after each round. */
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
/** A round is killed after at most this many acknowledgements, and then at most this many milliseconds. */
const ACKNOWLEDGEMENTS_MAX = 400;
const PAUSE_MS_MAX = 20;
/** One round in this many is killed during the member's start, within this time. */
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
    // The first start may be interrupted too, because it includes the founding.
    for (let round = 1; round <= options.rounds; round++) {
      if (random(START_KILL_SHARE) === 0) {
        killedAtStart++;
        member.spawn();
        await pause(random(START_PAUSE_MS_MAX));
        await member.kill();
      }
      const listening = await member.start();
      const token = await member.token(listening);
      await load.resendOpen(listening.grpc, token);
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
    await load.resendOpen(listening.grpc, token);
    await load.verify(listening.grpc, token);
    return { rounds: options.rounds, killedAtStart, acknowledged: load.acknowledged, replayed: load.replayed };
  } finally {
    await member.kill();
  }
}
