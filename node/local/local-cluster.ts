/**
 * A cluster on this machine: starts its members, founds it if it is new, and stops it.
 *
 * The founding is recorded before it is asked for, and only the data directory that the record names may found. So a
 * crash anywhere in between is completed by the next start, and lost data is reported instead of replaced.
 */

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAdminClient, QuoinError, type StatusResult } from "@quoin/client";
import {
  createCredentials,
  createRecord,
  type Endpoints,
  type OwnerCredentials,
  readCredentials,
  readRecord,
  writeAdminToken,
  writeEndpoints,
} from "./cluster-files.ts";
import { MemberProcess } from "./member-process.ts";
import type { LocalOptions } from "./options.ts";
import { LOCAL_HOST, type MemberPorts, portsFrom, requireFree } from "./ports.ts";

/** Why the cluster did not start, for people. */
export class StartError extends Error {}

const MEMBER_NAME = "q-0";
const DIRECTORY_MODE = 0o700;
const POLL_MS = 50;
/** A member that replays a long log on a slow disk needs its time. */
const START_TIMEOUT_MS = 120_000;
/** A member finishes running calls for ten seconds; then it is ended. */
const STOP_TIMEOUT_MS = 20_000;

export class LocalCluster {
  readonly #member: MemberProcess;
  readonly endpoints: Endpoints;
  readonly endpointsFile: string;

  private constructor(member: MemberProcess, endpoints: Endpoints, endpointsFile: string) {
    this.#member = member;
    this.endpoints = endpoints;
    this.endpointsFile = endpointsFile;
  }

  /** Starts the cluster and returns when it serves. Raises StartError or PortInUseError. */
  static async start(options: LocalOptions): Promise<LocalCluster> {
    const directory = resolve(options.dataDirectory);
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const ports = portsFrom(options.basePort);
    await requireFree(ports);
    const { token, path: adminTokenFile } = writeAdminToken(directory);
    const credentials = requireCredentials(directory);
    const member = new MemberProcess({
      name: MEMBER_NAME,
      dataDirectory: join(directory, MEMBER_NAME),
      ports,
      adminTokenFile,
      logFile: join(directory, `${MEMBER_NAME}.log`),
    });
    try {
      const endpoints = endpointsOf(ports, credentials);
      await foundIfEmpty(directory, member, endpoints, token);
      await untilReady(member, ports);
      return new LocalCluster(member, endpoints, writeEndpoints(directory, endpoints));
    } catch (error) {
      await end(member);
      throw error;
    }
  }

  /** Process id of the member. */
  get memberPid(): number | undefined {
    return this.#member.pid;
  }

  /** Rejects with a StartError when a member ends by itself. */
  async untilFailed(): Promise<never> {
    const { code, signal } = await this.#member.exited;
    throw new StartError(`member ${MEMBER_NAME} ended (${signal ?? `exit code ${code}`}):\n${this.#member.logTail()}`);
  }

  async stop(): Promise<void> {
    await end(this.#member);
  }
}

function endpointsOf(ports: MemberPorts, credentials: OwnerCredentials): Endpoints {
  return {
    grpc: [`${LOCAL_HOST}:${ports.grpc}`],
    http: [`http://${LOCAL_HOST}:${ports.http}`],
    admin: [`${LOCAL_HOST}:${ports.admin}`],
    owner: credentials.owner,
    apiKey: credentials.apiKey,
  };
}

/** Credentials are made once and written down before the cluster that knows their hashes exists. */
function requireCredentials(directory: string): OwnerCredentials {
  const known = readCredentials(directory);
  if (known !== null) {
    return known;
  }
  if (readRecord(directory) !== null) {
    throw new StartError(
      `${directory} holds a cluster, but endpoints.json with its owner's credentials is gone, and they cannot be made ` +
        "anew. Restore the file, or move the directory away to start with an empty cluster",
    );
  }
  const credentials = createCredentials();
  writeEndpoints(directory, { grpc: [], http: [], admin: [], ...credentials });
  return credentials;
}

async function foundIfEmpty(
  directory: string,
  member: MemberProcess,
  endpoints: Endpoints,
  adminToken: string,
): Promise<void> {
  const admin = createAdminClient({ endpoint: endpoints.admin[0] ?? "", credentials: { token: adminToken } });
  try {
    const { status } = await untilAnswered(member, () => admin.getStatus());
    if (status.state === "RUNNING") {
      return;
    }
    if (status.state !== "EMPTY") {
      throw new StartError(`member ${MEMBER_NAME} is ${status.state}: ${status.alarms.join("; ")}`);
    }
    const record = readRecord(directory) ?? createRecord(directory, status.incarnation);
    if (record.founderIncarnation !== status.incarnation) {
      throw new StartError(
        `the data of cluster ${record.clusterId} is gone: ${join(directory, MEMBER_NAME)} is empty. Restore it, or ` +
          `move ${directory} away to start with an empty cluster`,
      );
    }
    await admin.bootstrap({
      clusterId: record.clusterId,
      incarnation: status.incarnation,
      owner: { ...endpoints.owner, apiKey: endpoints.apiKey },
      timeoutMs: START_TIMEOUT_MS / 2,
    });
  } finally {
    admin.close();
  }
}

async function untilAnswered(member: MemberProcess, ask: () => Promise<StatusResult>): Promise<StatusResult> {
  return until(member, async () => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof QuoinError && error.code === "UNAVAILABLE") {
        return null;
      }
      throw error;
    }
  });
}

async function untilReady(member: MemberProcess, ports: MemberPorts): Promise<void> {
  await until(member, async () => {
    try {
      const response = await fetch(`http://${LOCAL_HOST}:${ports.health}/readyz`);
      return response.ok ? response : null;
    } catch (error) {
      if (error instanceof TypeError) {
        // Nothing listens there yet.
        return null;
      }
      throw error;
    }
  });
}

async function until<T>(member: MemberProcess, attempt: () => Promise<T | null>): Promise<T> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (member.hasExited) {
      throw new StartError(`member ${MEMBER_NAME} did not start:\n${member.logTail()}`);
    }
    const result = await attempt();
    if (result !== null) {
      return result;
    }
    if (performance.now() > deadlineMs) {
      throw new StartError(`member ${MEMBER_NAME} did not become ready in time:\n${member.logTail()}`);
    }
    await sleep(POLL_MS);
  }
}

async function end(member: MemberProcess): Promise<void> {
  member.stop();
  const gaveUp = new AbortController();
  const late = sleep(STOP_TIMEOUT_MS, "late", { signal: gaveUp.signal }).catch(() => "cancelled");
  const first = await Promise.race([member.exited, late]);
  gaveUp.abort();
  if (first === "late") {
    member.kill();
    await member.exited;
  }
}
