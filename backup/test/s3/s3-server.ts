/** S3 servers as separate processes: versitygw, and the server of moto. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pythonEnvironment } from "../../../e2e/python/index.ts";
import { until } from "../../../testing/index.ts";
import type { Target } from "./fault-proxy.ts";
import { buildVersitygw } from "./versitygw.ts";

export const ACCESS_KEY = "an-access-key";
export const SECRET_KEY = "a-secret-access-key";

const PATIENCE = { limitMs: 60_000, pollMs: 50 };
const MOTO_ADDRESS = /Running on http:\/\/127\.0\.0\.1:(\d+)/;

export interface S3Server {
  readonly target: Target;
  /** Where it keeps objects as files, one folder for each bucket; undefined if it does not. */
  readonly objects?: string;
  stop(): Promise<void>;
}

/** @param directory for its files and its socket. Raises GoMissing. */
export async function startVersitygw(directory: string): Promise<S3Server> {
  const program = await buildVersitygw();
  const [objects, attributes, socketPath] = ["objects", "attributes", "s"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(objects);
  mkdirSync(attributes);
  const options = ["--port", socketPath, "--region", "us-east-1", "--quiet", "--keep-alive"];
  const child = spawn(program, [...options, "posix", "--sidecar", attributes, objects], {
    env: { ...process.env, ROOT_ACCESS_KEY_ID: ACCESS_KEY, ROOT_SECRET_ACCESS_KEY: SECRET_KEY },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const server = { target: { socketPath }, objects, stop: () => stop(child) };
  try {
    await until("versitygw listens", () => isRunning(child) && answers(socketPath), PATIENCE);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Raises PythonMissing. */
export async function startMoto(): Promise<S3Server> {
  const python = await pythonEnvironment(new URL("requirements.txt", import.meta.url));
  const child = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    for await (const line of createInterface(child.stderr ?? process.stdin)) {
      const port = MOTO_ADDRESS.exec(line)?.[1];
      if (port !== undefined) {
        child.stderr?.resume();
        return { target: { host: "127.0.0.1", port: Number(port) }, stop: () => stop(child) };
      }
    }
    throw new Error("moto ended before it was listening");
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function isRunning(child: ChildProcess): true {
  if (child.exitCode !== null || child.signalCode !== null) {
    throw new Error(`the server ended with ${child.exitCode ?? child.signalCode}`);
  }
  return true;
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
