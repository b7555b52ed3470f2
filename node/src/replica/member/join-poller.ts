/**
 * Asks other members, by their addresses, one after the other and repeatedly, until one gives the wanted answer.
 *
 * There is one request at a time. A round goes through the addresses until an answer ends it. Rounds follow each other
 * with backoff, and each begins one address later, so that no single member decides what this one believes.
 */

import { Backoff, ConnectionError, type JoinAnswer, type PeerLog } from "../../peers/index.ts";
import type { Scheduler } from "../context/index.ts";

/** What an answer means: ask the next address; end this round; stop asking. */
export type PollDecision = "ask-next" | "ask-later" | "enough";

export interface JoinPollerOptions {
  /** host:port of members that may know the cluster. Called for each round. */
  readonly addresses: () => readonly string[];
  /** Rejects with a ConnectionError if there is no answer. */
  readonly requestJoin: (address: string) => Promise<JoinAnswer>;
  readonly onAnswer: (address: string, answer: JoinAnswer) => PollDecision;
  readonly scheduler: Scheduler;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: PeerLog;
}

/** Between rounds, in milliseconds, each ±50 %. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;

export class JoinPoller {
  readonly #options: JoinPollerOptions;
  readonly #backoff: Backoff;
  /** The last answer or error of each address, so that only changes are logged. */
  readonly #lastResults = new Map<string, string>();
  #round: Promise<void> | null = null;
  #roundCount = 0;
  #cancelPause: (() => void) | null = null;
  #isActive = false;

  constructor(options: JoinPollerOptions) {
    this.#options = options;
    this.#backoff = new Backoff(PAUSE_MS_MIN, PAUSE_MS_MAX, options.random);
  }

  /** Begins or continues to ask; does nothing if it asks already. */
  start(): void {
    if (!this.#isActive) {
      this.#isActive = true;
      this.#backoff.reset();
      if (this.#round === null) {
        this.#startRound();
      }
    }
  }

  /** Stops asking until `start`; resolves when the request in flight has ended and its answer is processed. */
  async stop(): Promise<void> {
    this.#isActive = false;
    this.#cancelPause?.();
    this.#cancelPause = null;
    await this.#round;
  }

  /** Asks every address once, all at the same time and outside of the rounds. Returns the answers by address. */
  async pollAll(): Promise<ReadonlyMap<string, JoinAnswer>> {
    const answers = new Map<string, JoinAnswer>();
    const pollOne = async (address: string): Promise<void> => {
      const answer = await this.#pollOne(address);
      if (answer !== null) {
        answers.set(address, answer);
      }
    };
    await Promise.all(this.#options.addresses().map(pollOne));
    return answers;
  }

  #startRound(): void {
    this.#round = this.#pollInTurn().then(() => {
      this.#round = null;
      if (this.#isActive) {
        this.#pause();
      }
    });
  }

  async #pollInTurn(): Promise<void> {
    const addresses = this.#options.addresses();
    const first = this.#roundCount++;
    for (let at = 0; at < addresses.length && this.#isActive; at++) {
      const address = addresses[(first + at) % addresses.length] ?? "";
      const answer = await this.#pollOne(address);
      const decision = answer === null ? "ask-next" : this.#options.onAnswer(address, answer);
      if (decision === "enough") {
        this.#isActive = false;
      }
      if (decision !== "ask-next") {
        return;
      }
    }
  }

  async #pollOne(address: string): Promise<JoinAnswer | null> {
    const { requestJoin, log } = this.#options;
    try {
      const answer = await requestJoin(address);
      this.#note(address, answer.result, () =>
        log.info({ seed: address, answer: answer.result }, "a seed has answered"),
      );
      return answer;
    } catch (error) {
      if (!(error instanceof ConnectionError)) {
        throw error;
      }
      const reason = error.message;
      this.#note(address, reason, () => log.info({ seed: address, reason }, "a seed does not answer"));
      return null;
    }
  }

  #note(address: string, result: string, log: () => void): void {
    if (this.#lastResults.get(address) !== result) {
      this.#lastResults.set(address, result);
      log();
    }
  }

  #pause(): void {
    const cancel = this.#options.scheduler.every(this.#backoff.next(), () => {
      cancel();
      this.#cancelPause = null;
      this.#startRound();
    });
    this.#cancelPause = cancel;
  }
}
