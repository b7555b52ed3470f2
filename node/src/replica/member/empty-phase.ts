/**
 * A member whose data directory is empty: it waits until it founds a cluster or gets a slot in one.
 *
 * It asks the seeds for a slot while no founding is in progress. A founding waits for the request in flight, so at most
 * one of the two changes the directory. If that fails because of a store, the process must end: only its next start can
 * complete the change.
 */

import { CoordinationError, type Founding, type MemberAddress } from "../../state/index.ts";
import { type DataDirectory, type Identity, StoreError } from "../../storage/index.ts";
import { shuttingDown } from "../context/index.ts";
import { foundFrom } from "./founding-backup.ts";
import { type AcceptedJoin, Joining, type WaitingState } from "./joining.ts";
import type { MemberContext, OwnData } from "./member-context.ts";
import type { JoiningProcess } from "./member-peers.ts";
import type { MemberStatus } from "./member-status.ts";
import type { MemberList } from "./peer-directory.ts";

type EmptyDirectory = DataDirectory & { readonly phase: "empty" };

/** The change of the directory that is in progress, or that a store has made impossible. */
type Attempt =
  | { readonly kind: "none" }
  | { readonly kind: "founding"; readonly clusterId: string; readonly result: Promise<number> }
  | { readonly kind: "joining"; readonly done: Promise<void> };

/** The directory has the data of a member; `memberList` is null unless another member has sent it. */
type OnEntered = (own: OwnData, memberList: MemberList | null) => void;

const NO_ATTEMPT: Attempt = { kind: "none" };

export class EmptyPhase {
  readonly kind = "empty";
  readonly #context: MemberContext;
  readonly #directory: EmptyDirectory;
  readonly #onEntered: OnEntered;
  #status: MemberStatus<WaitingState | "JOINING"> = { state: "EMPTY", reason: "" };
  #attempt: Attempt = NO_ATTEMPT;
  /** Null until the address of this process is known, and without seeds. */
  #joining: Joining | null = null;

  /** `onEntered` is called at most once. */
  constructor(context: MemberContext, directory: EmptyDirectory, onEntered: OnEntered) {
    this.#context = context;
    this.#directory = directory;
    this.#onEntered = onEntered;
  }

  get status(): MemberStatus {
    return this.#status;
  }

  get identity(): Identity {
    return this.#directory.identity;
  }

  /** Whether a founding may begin. */
  get mayFound(): boolean {
    return this.#status.state === "EMPTY" && this.#attempt.kind === "none";
  }

  /** The result of the founding of this cluster, if that is in progress or has failed because of a store. */
  foundingOf(clusterId: string): Promise<number> | null {
    const attempt = this.#attempt;
    return attempt.kind === "founding" && attempt.clusterId === clusterId ? attempt.result : null;
  }

  /**
   * Founds a cluster with this member as its first, and returns its member id. Rejects with NOT_EMPTY if a seed belongs
   * to a cluster already, with SHUTTING_DOWN, with the reason why a backup cannot be used, or with a StoreError.
   */
  found(founding: Founding): Promise<number> {
    const result = this.#found(founding);
    this.#attempt = { kind: "founding", clusterId: founding.clusterId, result };
    return result;
  }

  /** Others reach this process at these addresses: asks the seeds for a slot. */
  introduce(endpoints: MemberAddress): void {
    const { options, connections } = this.#context;
    const { name, clusterName, record, scheduler, log } = options;
    const { incarnation } = this.#directory.identity;
    const seeds = connections?.peering.seeds.filter((seed) => seed !== endpoints.peerEndpoint) ?? [];
    if (connections === null || seeds.length === 0) {
      return;
    }
    const { peers, peering } = connections;
    const asker: JoiningProcess = { clusterName, clusterId: "", memberId: 0, name, incarnation, endpoints };
    this.#joining = new Joining({
      name,
      clusterName,
      seeds,
      scheduler,
      log,
      random: peering.random,
      requestJoin: (seed) => peers.requestJoin(seed, { ...asker, clusterId: record?.clusterId ?? "" }),
      objectionTo: (clusterId) => record?.problem ?? record?.objectionTo(clusterId) ?? null,
      onWaiting: (state, reason) => this.#report({ state, reason }),
      onAccepted: (answer) => this.#onAccepted(answer),
    });
    this.#askForSlot();
  }

  /** Stops asking for a slot; resolves when no request is in flight. */
  async stopAsking(): Promise<void> {
    await this.#joining?.stop();
  }

  /** Resolves when no founding or joining is in progress. */
  async settle(): Promise<void> {
    const attempt = this.#attempt;
    if (attempt.kind === "founding") {
      // A failed founding was reported already.
      await attempt.result.catch(() => undefined);
    } else if (attempt.kind === "joining") {
      await attempt.done;
    }
  }

  close(): Promise<void> {
    return this.#directory.close();
  }

  #report(status: MemberStatus<WaitingState | "JOINING">): void {
    this.#status = status;
    this.#context.statusLog.note(status);
  }

  #askForSlot(): void {
    if (this.#attempt.kind === "none" && !this.#context.isStopping()) {
      this.#joining?.start();
    }
  }

  async #found(founding: Founding): Promise<number> {
    const objection = this.#joining === null ? null : await this.#joining.objection();
    const { options, isStopping } = this.#context;
    if (objection !== null || isStopping()) {
      this.#allowFounding();
      throw isStopping() ? shuttingDown() : new CoordinationError("NOT_EMPTY", `no cluster is founded: ${objection}`);
    }
    const onProgress = (reason: string): void => {
      if (isStopping()) {
        throw shuttingDown();
      }
      this.#report({ state: "EMPTY", reason });
    };
    const { foundingBackup: backup = null, clock } = options;
    try {
      const { data, from } = await this.#orFatal(
        foundFrom(this.#directory, founding, { backup, onProgress, wallMs: clock.wallMs() }),
      );
      this.#onEntered({ data, foundedFrom: from, succession: null }, null);
      return data.identity.memberId;
    } catch (error) {
      if (error instanceof CoordinationError) {
        // The directory is still empty.
        this.#report({ state: "EMPTY", reason: error.message });
        this.#allowFounding();
      }
      throw error;
    }
  }

  /** A founding has failed and changed nothing: allows another one, unless this process has got a slot meanwhile. */
  #allowFounding(): void {
    if (this.#attempt.kind === "founding") {
      this.#attempt = NO_ATTEMPT;
    }
    this.#askForSlot();
  }

  #onAccepted(answer: AcceptedJoin): void {
    if (!this.#context.isStopping()) {
      this.#attempt = { kind: "joining", done: this.#join(answer) };
    }
  }

  async #join({ clusterId, memberId, directory: members, index }: AcceptedJoin): Promise<void> {
    this.#report({ state: "JOINING", reason: "" });
    this.#context.options.log.info({ clusterId, memberId }, "this member got a slot");
    try {
      const data = await this.#orFatal(this.#directory.join(clusterId, memberId));
      this.#onEntered({ data, foundedFrom: null, succession: null }, { members, index });
    } catch (error) {
      // A StoreError was reported as fatal already.
      if (!(error instanceof StoreError)) {
        throw error;
      }
    }
  }

  /** Reports a StoreError as fatal: the next start completes a partial founding, not this process. */
  async #orFatal<T>(entering: Promise<T>): Promise<T> {
    try {
      return await entering;
    } catch (error) {
      if (error instanceof StoreError) {
        this.#context.options.onFatal(error);
      }
      throw error;
    }
  }
}
