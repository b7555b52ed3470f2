/**
 * Accepted connections, by source and kind.
 *
 * A source has at most one connection of each kind: a newer one ends the older one, whose unread frames are lost (P34).
 */

import type { FrameConnection } from "./frame-connection.ts";
import type { ConnectionKind } from "./frame-type.ts";
import type { Hello } from "./hello.ts";

export interface IncomingConnection {
  readonly connection: FrameConnection;
  readonly hello: Hello;
}

export class IncomingConnections {
  /** By incarnation, then by kind. */
  readonly #byIncarnation = new Map<string, Map<ConnectionKind, IncomingConnection>>();

  *[Symbol.iterator](): Iterator<IncomingConnection> {
    for (const kinds of this.#byIncarnation.values()) {
      yield* kinds.values();
    }
  }

  /** The connection of this source and kind. */
  get(incarnation: string, kind: ConnectionKind): IncomingConnection | undefined {
    return this.#byIncarnation.get(incarnation)?.get(kind);
  }

  /** The number of connections of this kind. */
  count(kind: ConnectionKind): number {
    let count = 0;
    for (const kinds of this.#byIncarnation.values()) {
      count += kinds.has(kind) ? 1 : 0;
    }
    return count;
  }

  /** Adds the connection. An older one of the same source and kind ends. */
  add(incoming: IncomingConnection): void {
    const { source, kind } = incoming.hello;
    this.get(source.incarnation, kind)?.connection.end("a newer connection took its place");
    const kinds = this.#byIncarnation.get(source.incarnation) ?? new Map<ConnectionKind, IncomingConnection>();
    this.#byIncarnation.set(source.incarnation, kinds.set(kind, incoming));
  }

  /** Removes a connection that has ended, unless a newer one has replaced it. */
  remove(incoming: IncomingConnection): void {
    const { source, kind } = incoming.hello;
    const kinds = this.#byIncarnation.get(source.incarnation);
    if (kinds?.get(kind) === incoming) {
      kinds.delete(kind);
      if (kinds.size === 0) {
        this.#byIncarnation.delete(source.incarnation);
      }
    }
  }

  /** Ends all connections of earlier boots of a source. */
  endBootsBelow(incarnation: string, boot: number): void {
    for (const { connection, hello } of [...(this.#byIncarnation.get(incarnation)?.values() ?? [])]) {
      if (hello.source.boot < boot) {
        connection.end("its member has restarted");
      }
    }
  }

  incarnations(): ReadonlySet<string> {
    return new Set(this.#byIncarnation.keys());
  }
}
