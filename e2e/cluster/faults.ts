/** Faults of the nodes and the control plane of the harness's own cluster. Each fault lasts until it is ended. */

import { readFileSync } from "node:fs";
import { run } from "../../testing/index.ts";
import { agentsOf } from "./cluster-node.ts";
import { processesIn } from "./control-groups.ts";
import { inside, setConnected } from "./network.ts";
import { idOf, killProcess, restartProcess, signalProcess } from "./processes.ts";
import { sendSignal } from "./signals.ts";
import type { NodeLayout, Site } from "./site.ts";

const API_SERVER = "kube-apiserver";
const TABLE = "quoin_e2e_faults";

export class Faults {
  readonly #site: Site;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Disconnects a node from the network in both directions. */
  cutNode(name: string): Promise<void> {
    return setConnected(this.#site, this.#site.node(name), false);
  }

  reconnectNode(name: string): Promise<void> {
    return setConnected(this.#site, this.#site.node(name), true);
  }

  /** Stops all processes on a node, its kubelet first, as when a virtual machine is paused. */
  pauseNode(name: string): void {
    this.#signalNode(this.#site.node(name), "SIGSTOP");
  }

  resumeNode(name: string): void {
    this.#signalNode(this.#site.node(name), "SIGCONT");
  }

  #signalNode(node: NodeLayout, signal: "SIGSTOP" | "SIGCONT"): void {
    for (const agent of agentsOf(node)) {
      signalProcess(this.#site, agent, signal);
    }
    for (const id of processesIn(node.group)) {
      sendSignal(id, signal);
    }
  }

  /**
   * Kills all processes of a container, as after an out-of-memory kill; its kubelet restarts it.
   *
   * @param id as in the status of its pod, without the part before `://`
   */
  killContainer(node: string, id: string): void {
    const processes = processesIn(this.#site.node(node).group).filter((process) => isIn(process, id));
    if (processes.length === 0) {
      throw new Error(`container ${id} has no processes on ${node}`);
    }
    for (const process of processes) {
      sendSignal(process, "SIGKILL");
    }
  }

  /** Cuts a pod off from the API server only. */
  async cutFromApiServer(node: string, podAddress: string): Promise<void> {
    const rules = `table ip ${TABLE} {
      chain forward {
        type filter hook forward priority filter
        ip saddr ${podAddress} ip daddr ${this.#site.controlAddress} drop
        ip daddr ${podAddress} ip saddr ${this.#site.controlAddress} drop
      }
    }`;
    await this.#filter(node, rules);
  }

  /** Reconnects all pods of the node to the API server. */
  async reconnectToApiServer(node: string): Promise<void> {
    await this.#filter(node, "delete", "table", "ip", TABLE);
  }

  async #filter(node: string, ...words: readonly string[]): Promise<void> {
    const [program = "", ...args] = [...inside(this.#site.node(node).namespace), "nft", ...words];
    await run(program, args);
  }

  /** Kills the API server. */
  stopApiServer(): Promise<void> {
    return killProcess(this.#site, API_SERVER);
  }

  /** Starts the API server again; it answers some seconds later. */
  startApiServer(): void {
    if (idOf(this.#site, API_SERVER) === null) {
      restartProcess(this.#site, API_SERVER);
    }
  }
}

/** Whether a process is in a control group of this name; false once it has ended. */
function isIn(process: number, group: string): boolean {
  try {
    return readFileSync(`/proc/${process}/cgroup`, "utf8").includes(`/${group}`);
  } catch {
    return false;
  }
}
