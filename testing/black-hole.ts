/** An address that never answers, like the address of a machine that is gone: a connect neither succeeds nor fails. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Listens and then blocks forever, so that the connections that the kernel takes for it fill its queue. */
const LISTENER = `
  const [host, port] = process.argv.slice(1);
  const server = require("node:net").createServer().listen({ host, port: Number(port), backlog: 1 }, () => {
    console.log(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
/** More connections than the queue can take. */
const FILLERS = 4;

export class BlackHole {
  readonly port: number;
  readonly #listener: ChildProcess;
  readonly #fillers: readonly Socket[];

  private constructor(port: number, listener: ChildProcess, fillers: readonly Socket[]) {
    this.port = port;
    this.#listener = listener;
    this.#fillers = fillers;
  }

  /**
   * Rejects if this machine cannot listen on the port.
   *
   * @param wanted 0 = any that is free.
   */
  static async open(host: string, wanted: number): Promise<BlackHole> {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const listener = spawn(process.execPath, ["--eval", LISTENER, host, String(wanted)], { stdio: [...stdio] });
    const ended = once(listener, "exit").then(() => {
      throw new Error(`nothing can listen on ${host}:${wanted}`);
    });
    const [line] = await Promise.race([once(listener.stdout ?? listener, "data"), ended]);
    ended.catch(() => undefined);
    const port = Number(line);
    const fillers = Array.from({ length: FILLERS }, () => connect({ host, port }).on("error", () => undefined));
    await Promise.race([once(fillers[0] as Socket, "connect"), ended]);
    return new BlackHole(port, listener, fillers);
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
