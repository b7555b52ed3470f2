/**
 * The SDK and quoinctl when no member answers at an endpoint: before a member listens, and when the machine of a
 * connection disappears silently. A relay on loopback stands for the network in between.
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createClient, QuoinError, type Runtime, systemRuntime } from "@quoin/client";
import { expect } from "chai";
import { type ClusterMember, ClusterUnderTest, until } from "../harness/index.ts";

const NAMESPACE = "default";

/** Forwards connections to a port. Connections that go dark stay open, but carry nothing any more. */
class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** Whether it accepts new connections without forwarding them. */
  isHanging = false;
  /** Connections that were not forwarded. */
  hung = 0;

  private constructor(port: number) {
    this.#server = createServer((near) => {
      this.#keep(near);
      if (this.isHanging) {
        this.hung += 1;
        near.pause();
        return;
      }
      const far = this.#keep(connect(port, "127.0.0.1"));
      this.#pairs.add([near, far]);
      near.pipe(far);
      far.pipe(near);
    });
  }

  static async to(port: number): Promise<Relay> {
    const relay = new Relay(port);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  goDark(): void {
    for (const [near, far] of this.#pairs) {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
    }
    this.#pairs.clear();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    return socket;
  }
}

describe("clients of a cluster that cannot be reached for a while", function () {
  this.timeout(120_000);
  let cluster: ClusterUnderTest;
  let member: ClusterMember;
  const relays: Relay[] = [];
  let pauses = 0;
  /** The real runtime, which also records the pauses between attempts. */
  const runtime: Runtime = {
    ...systemRuntime,
    sleep: (durationMs, signal) => {
      pauses += 1;
      return systemRuntime.sleep(durationMs, signal);
    },
  };

  before(async () => {
    cluster = await ClusterUnderTest.start(1);
    member = cluster.member("q-0");
  });

  beforeEach(() => {
    pauses = 0;
  });

  afterEach(() => {
    for (const relay of relays.splice(0)) {
      relay.close();
    }
  });

  after(() => cluster.dispose());

  async function relayed(): Promise<Relay> {
    const relay = await Relay.to(member.ports.grpc);
    relays.push(relay);
    return relay;
  }

  async function codeOf(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => "OK",
      (error: unknown) => (error instanceof QuoinError ? error.code : String(error)),
    );
  }

  it("go on trying within their timeout while nothing listens, with and without a token", async () => {
    const fresh = createClient({
      endpoints: [member.grpc],
      credentials: { apiKey: cluster.secrets.apiKey },
      timeoutMs: 60_000,
      runtime,
    });
    const known = createClient({ endpoints: [member.grpc], credentials: cluster.tokens, timeoutMs: 60_000, runtime });
    try {
      await known.keyValue.put(NAMESPACE, "known", "1");
      const { logId } = await known.logs.create("outage");
      await member.stop();
      const works = [
        fresh.keyValue.put(NAMESPACE, "fresh", "1"),
        known.keyValue.put(NAMESPACE, "known", "2"),
        known.logs.describe(logId),
        known.watch.keys(NAMESPACE, { prefix: "known" }),
      ];
      await until("far more than four attempts of each", () => pauses > 40);
      member.start();
      expect(await Promise.all(works.map(codeOf))).to.deep.equal(["OK", "OK", "OK", "OK"]);
    } finally {
      fresh.close();
      known.close();
    }
  });

  it("end with UNAVAILABLE, and certainly not executed, when nothing listens until their timeout", async () => {
    const endpoints = ["127.0.0.1:1"];
    const client = createClient({ endpoints, credentials: cluster.tokens, timeoutMs: 3_000, runtime });
    try {
      const error = await client.keyValue.put(NAMESPACE, "none", "1").catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect(pauses, "more than those of four attempts").to.be.above(3);
    } finally {
      client.close();
    }
  });

  it("leave a connection whose other side disappeared, after the first failed call", async () => {
    const relay = await relayed();
    const client = cluster.client([`127.0.0.1:${relay.port}`]);
    await client.keyValue.put(NAMESPACE, "dark", "1");
    relay.goDark();
    expect(await codeOf(client.keyValue.get(NAMESPACE, "dark", { timeoutMs: 1_000 }))).to.equal("DEADLINE_EXCEEDED");
    expect(await codeOf(client.keyValue.get(NAMESPACE, "dark", { timeoutMs: 5_000 }))).to.equal("OK");
  });

  it("do not wait for a connection that hangs: the next attempt makes another", async () => {
    const relay = await relayed();
    relay.isHanging = true;
    const client = cluster.client([`127.0.0.1:${relay.port}`]);
    const work = codeOf(client.keyValue.put(NAMESPACE, "hung", "1", { timeoutMs: 20_000 }));
    await until("another connection", () => relay.hung > 1);
    relay.isHanging = false;
    expect(await work).to.equal("OK");
  });
});
