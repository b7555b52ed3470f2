/** An SDK in another language, in a process of its own: the runner that also plays the scenarios. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../../../e2e/python/index.ts";
import type { Connect } from "../../../node/test/harness/index.ts";
import { assertGo } from "../../../scripts/go/index.ts";
import { Conversation, type OfferedScenario, RunnerServer, type Value } from "../driver/index.ts";
import { type AskSdk, RemoteClient, RemoteFailure } from "./remote-client.ts";

/** How to start the runner of each SDK: the program, its arguments, its folder, and what it gets in its environment. */
const RUNNERS = {
  "python-threads": (url: string) => pythonRunner(url, "threads"),
  "python-asyncio": (url: string) => pythonRunner(url, "asyncio"),
  go: goRunner,
} satisfies Readonly<Record<string, (url: string) => Promise<Runner>>>;

interface Runner {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: URL;
  readonly env: Readonly<Record<string, string>>;
}

export type SdkLanguage = keyof typeof RUNNERS;

export const SDK_LANGUAGES = Object.keys(RUNNERS) as readonly SdkLanguage[];

export function isSdkLanguage(name: string): name is SdkLanguage {
  return name in RUNNERS;
}

const NAME = "load/clients";
const SCENARIO = { name: NAME, title: "The clients of a load", subject: "load", disturbs: false };

async function pythonRunner(url: string, kind: "threads" | "asyncio"): Promise<Runner> {
  const program = await pythonEnvironment(new URL("../../python/requirements.txt", import.meta.url));
  return {
    program,
    args: ["tests/behaviour.py", url, "--client", kind],
    folder: new URL("../../python/", import.meta.url),
    env: { PYTHONPATH: "src:tests", PYTHONDONTWRITEBYTECODE: "1", GRPC_VERBOSITY: "NONE" },
  };
}

async function goRunner(url: string): Promise<Runner> {
  await assertGo();
  return {
    program: "go",
    args: ["test", "-count=1", "-timeout=0", "-run=^TestBehaviour$", "."],
    folder: new URL("../../go/", import.meta.url),
    // It starts its driver itself, and reads one line.
    env: { QUOIN_BEHAVIOUR: `echo ${JSON.stringify({ url })}` },
  };
}

export class RemoteSdk {
  readonly #server: RunnerServer<OfferedScenario>;
  readonly #conversation: Conversation;
  readonly #apiKey: string;
  /** Rejects when the runner has ended. */
  readonly #ended: Promise<never>;
  #clients = 0;

  private constructor(
    server: RunnerServer<OfferedScenario>,
    runner: ChildProcess,
    conversation: Conversation,
    apiKey: string,
  ) {
    this.#server = server;
    this.#conversation = conversation;
    this.#apiKey = apiKey;
    this.#ended = once(runner, "exit").then(([code, signal]) => {
      throw new RemoteFailure(`the runner has ended with ${code ?? signal}`);
    });
    this.#ended.catch(() => undefined);
  }

  /**
   * Starts the runner of a language. Its messages go to the standard error output of this process.
   *
   * @throws PythonMissing, GoMissing, or a RemoteFailure if it ends at once.
   */
  static async start(language: SdkLanguage, apiKey: string): Promise<RemoteSdk> {
    const conversation = new Conversation();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const server = await RunnerServer.start([SCENARIO], async () => {
      resolve();
      return conversation;
    });
    try {
      const { program, args, folder, env } = await RUNNERS[language](server.url);
      const started = spawn(program, args, {
        cwd: fileURLToPath(folder),
        env: { ...process.env, ...env },
        stdio: ["ignore", "ignore", "inherit"],
      });
      const sdk = new RemoteSdk(server, started, conversation, apiKey);
      await Promise.race([begun, sdk.#ended]);
      return sdk;
    } catch (error) {
      server.close();
      throw error;
    }
  }

  /** A client of these members. Its operations have this deadline, in milliseconds, over all attempts. */
  readonly connect: Connect = (endpoints, timeoutMs) => {
    this.#clients += 1;
    const client = `client-${this.#clients}`;
    const options = { endpoints, api_key: this.#apiKey, timeout_ms: timeoutMs };
    const made = this.#ask({ command: "client", client, options });
    // A refused client shows at its first operation.
    made.catch(() => undefined);
    const ask: AskSdk = async (operation, given) => {
      await made;
      return this.#ask({ command: "call", client, operation, arguments: given });
    };
    return new RemoteClient(ask, async () => {
      await made;
      await this.#ask({ command: "close", client });
    });
  };

  /** Ends the runner, which closes its clients. */
  async close(): Promise<void> {
    this.#conversation.send({ command: "end", verdict: "passed", message: "" });
    await this.#ended.catch(() => undefined);
    this.#server.close();
  }

  async #ask(command: { readonly command: string } & Readonly<Record<string, Value>>) {
    return Promise.race([this.#conversation.ask(command).answered, this.#ended]);
  }
}
