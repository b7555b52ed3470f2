/** Builds another system, or the load generator, from its Go module in this package. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildGoTool } from "../../scripts/go/index.ts";

/** The other system cannot be built here; the message explains why in one line. */
export class BuildError extends Error {}

/** A system to build, by the name of its module's folder. */
export type Peer = "etcd" | "nats";

const MODULES = fileURLToPath(new URL("..", import.meta.url));

/** The path of the executable; builds it if necessary. Raises BuildError, or an error when interrupted. */
export function buildPeer(peer: Peer, interrupted: AbortSignal): Promise<string> {
  return build(peer, interrupted);
}

/** The same for the load generator. */
export function buildLoad(interrupted: AbortSignal): Promise<string> {
  return build("load", interrupted);
}

async function build(name: Peer | "load", interrupted: AbortSignal): Promise<string> {
  const onBuild = () => console.log(`Building ${name}; the first time takes a minute or two ...`);
  try {
    return await buildGoTool({ name, module: join(MODULES, name), signal: interrupted, onBuild });
  } catch (error) {
    interrupted.throwIfAborted();
    throw new BuildError(`${name} cannot be built: ${reasonOf(error)}`, { cause: error });
  }
}

/** The problem in one line, from the error of execFile. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const lines = "stderr" in error ? String(error.stderr).split("\n") : [];
  // Progress is not a reason, and neither is a comment with only the name of the package.
  const reason = lines.find((line) => line.trim() !== "" && !/^(?:go: downloading |# )/.test(line));
  return (reason ?? error.message).trim();
}
