/** What the driver and a runner say to each other in one run: commands one way, answers the other. */

import { show, type Value } from "./values.ts";

/** What a runner must do next. */
export type Command = Readonly<Record<string, Value>> & { readonly command: string };

/** What a runner has answered to a command: a result, or an error of the SDK. */
export type Answer = Readonly<Record<string, Value>>;

/** The SDK does not have something. */
export class Unsupported extends Error {}

/** The runner itself has failed, or what it carried out. */
export class RunnerFailure extends Error {}

/** A command that is not answered yet. */
export class PendingCall {
  readonly id: number;
  /** Rejects with Unsupported or a RunnerFailure. */
  readonly answered: Promise<Answer>;
  readonly #onEntered: (count: number) => Promise<void>;
  #settle: (answer: Answer) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(id: number, onEntered: (count: number) => Promise<void>) {
    this.id = id;
    this.#onEntered = onEntered;
    this.answered = new Promise((resolveAnswer, reject) => {
      this.#settle = resolveAnswer;
      this.#fail = reject;
    });
    // A failure may come before anybody waits for it.
    this.answered.catch(() => undefined);
  }

  take(answer: Answer): void {
    if (typeof answer.entered === "number") {
      this.#onEntered(answer.entered).catch((error: unknown) => this.#fail(error));
    } else if (typeof answer.broken === "string") {
      this.#fail(new RunnerFailure(`the runner failed: ${answer.broken}`));
    } else if (answer.unsupported !== undefined) {
      this.#fail(new Unsupported(String(answer.unsupported)));
    } else {
      this.#settle(answer);
    }
  }
}

export class Conversation {
  readonly #commands: Command[] = [];
  readonly #pending = new Map<number, PendingCall>();
  #wake: () => void = () => undefined;
  #lastId = 0;

  /** Sends a command that is answered. `onEntered` is called when the SDK runs the block of code of the call. */
  ask(command: Command, onEntered: (count: number) => Promise<void> = async () => undefined): PendingCall {
    this.#lastId += 1;
    const pending = new PendingCall(this.#lastId, onEntered);
    this.#pending.set(pending.id, pending);
    this.send({ id: pending.id, ...command });
    return pending;
  }

  /** Sends a command without an answer. */
  send(command: Command): void {
    this.#commands.push(command);
    this.#wake();
  }

  /** For the runner: the next command; undefined = there was none within this time. */
  async next(waitMs: number): Promise<Command | undefined> {
    if (this.#commands.length === 0) {
      await new Promise<void>((wake) => {
        const timer = setTimeout(wake, waitMs);
        this.#wake = () => {
          clearTimeout(timer);
          wake();
        };
      });
    }
    return this.#commands.shift();
  }

  /** For the runner: its answer to a command. Throws a RunnerFailure if no command has its id. */
  take(answer: Answer): void {
    const pending = this.#pending.get(Number(answer.id));
    if (pending === undefined) {
      throw new RunnerFailure(`no command with the id ${show(answer.id)} waits for an answer`);
    }
    if (answer.entered === undefined) {
      this.#pending.delete(pending.id);
    }
    pending.take(answer);
  }
}
