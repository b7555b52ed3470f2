/** Serves the API of a cluster on a loopback port, without encryption or a token: `kubectl proxy`. */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Output of kubectl once it listens. */
const LISTENING = /^Starting to serve on (127\.0\.0\.1:[0-9]+)$/;

export class ApiProxy {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Rejects if kubectl ends before it listens. */
  static start(env: Readonly<Record<string, string>>): Promise<ApiProxy> {
    const child = spawn("kubectl", ["proxy", "--port=0"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", () => reject(new Error("kubectl proxy has ended")));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [, address] = LISTENING.exec(line) ?? [];
        if (address !== undefined) {
          resolve(new ApiProxy(child, `http://${address}`));
        }
      });
    });
  }

  close(): void {
    this.#child.removeAllListeners("exit");
    this.#child.kill();
  }
}
