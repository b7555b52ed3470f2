/** An operator of a world: it makes one pass at a time on request, and forgets everything when it crashes. */
import type { CertificatePlan } from "../../src/certificates/index.ts";
import { Reconciler } from "../../src/controller/index.ts";
import { type Connection, type EventContent, KubeClient } from "../../src/kube/index.ts";
import { MemberClient } from "../../src/members/index.ts";
import { Observer } from "../../src/observe/index.ts";
import type { Failure, Plan } from "../../src/plan/index.ts";
import type { World } from "./world.ts";

const NO_CERTIFICATES: CertificatePlan = { writes: [], problem: null, tls: null, renewed: false };

export class WorldOperator {
  readonly #connection: Connection;
  readonly #members = new MemberClient();
  readonly #reconciler: Reconciler;
  #lateMs = 0;
  readonly events: EventContent[] = [];
  readonly failures: string[] = [];
  /** Whether it holds the Lease. */
  mayWrite = true;
  /** Time between its observation and its writes. */
  passMs = 0;
  /** Plan of the last pass. */
  plan: Plan | null = null;
  /** Number of passes that reported the state for alerts. */
  reconcilesReported = 0;
  /** Actions that it shows as failing. */
  failing: readonly Failure[] = [];

  private constructor(world: World, connection: Connection) {
    this.#connection = connection;
    const client = new KubeClient(connection);
    const members = this.#members;
    this.#reconciler = new Reconciler({
      client,
      cache: null,
      observer: new Observer({
        client,
        members,
        settings: { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" },
        planCertificates: async () => NO_CERTIFICATES,
        now: () => world.now,
        endpointOf: ({ metadata }) => {
          const port = world.portOf(metadata?.uid ?? "");
          return port === null ? null : `127.0.0.1:${port}`;
        },
        onSilent: () => {},
        onUnknown: () => {},
      }),
      execution: { client, members, monotonicMs: () => this.#monotonicMs(world.now), mayWrite: () => this.mayWrite },
      defaults: { version: "1.4.0", repository: "quoin" },
      sink: {
        event: (_cluster, content) => this.events.push(content),
        onAction: () => {},
        onFailure: (_cluster, what, error) => this.failures.push(`${what}: ${(error as Error).message}`),
        onStatus: (_cluster, _status, plan) => {
          if (plan !== null) {
            this.plan = plan;
            this.reconcilesReported++;
          }
        },
        onFailing: (_cluster, failures) => {
          this.failing = failures;
        },
        onGone: () => {},
      },
    });
  }

  /** Each call returns a later time. */
  #monotonicMs(nowMs: number): number {
    this.#lateMs += this.passMs;
    return nowMs + this.#lateMs;
  }

  static async start(world: World): Promise<WorldOperator> {
    return new WorldOperator(world, world.api.connection());
  }

  reconcile(namespace: string, name: string): Promise<number | null> {
    return this.#reconciler.reconcile(namespace, name);
  }

  /** As when a watch reports a change of an owned object. */
  forget(namespace: string, name: string): void {
    this.#reconciler.invalidateOwnedObjects(namespace, name);
  }

  async stop(): Promise<void> {
    this.#members.close();
    await this.#connection.close();
  }
}
