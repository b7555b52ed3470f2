/** An address that never answers, like the address of a machine that is gone: a connect neither succeeds nor fails. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Listens and then blocks forever, so that the connections that the kernel takes for it fill its queue. */
const LISTENER = `
  const [host, port] = process.argv.slice(1);
  require("node:net").createServer().listen({ host, port: Number(port), backlog: 1 }, () => {
    console.log("listening");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
/** More connections than the queue can take. */
const FILLERS = 4;

export class BlackHole {
  readonly #listener: ChildProcess;
  readonly #fillers: readonly Socket[];

  private constructor(listener: ChildProcess, fillers: readonly Socket[]) {
    this.#listener = listener;
    this.#fillers = fillers;
  }

  /** Rejects if this machine cannot listen on the port. */
  static async open(host: string, port: number): Promise<BlackHole> {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const listener = spawn(process.execPath, ["--eval", LISTENER, host, String(port)], { stdio: [...stdio] });
    const ended = once(listener, "exit").then(() => {
      throw new Error(`nothing can listen on ${host}:${port}`);
    });
    await Promise.race([once(listener.stdout ?? listener, "data"), ended]);
    ended.catch(() => undefined);
    const fillers = Array.from({ length: FILLERS }, () => connect({ host, port }).on("error", () => undefined));
    await Promise.race([once(fillers[0] as Socket, "connect"), ended]);
    return new BlackHole(listener, fillers);
  }

  async close(): Promise<void> {
    for (const filler of this.#fillers) {
      filler.destroy();
    }
    if (this.#listener.exitCode === null && this.#listener.signalCode === null) {
      this.#listener.kill("SIGKILL");
      await once(this.#listener, "exit");
    }
  }
}
