import { expect } from "chai";
import { systemClock, systemScheduler } from "../replica/index.ts";
import { CoordinationError } from "../state/index.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { type HashLane, QueuedHashing } from "./password-hashing.ts";

/** Hashing takes long on a busy machine. */
const HASHING_MS_MAX = 60_000;
const LANE = { waitersMax: 64, processorShare: 1, burstMs: 1_000_000 };
const LIMITS = { familiar: LANE, strangers: LANE };

describe("QueuedHashing", function () {
  this.timeout(HASHING_MS_MAX);
  let hashing: QueuedHashing;

  before(() => {
    hashing = new QueuedHashing(systemClock, systemScheduler, LIMITS);
  });

  function orderOf(client: string) {
    return { client, account: client, deadlineMs: systemClock.monotonicMs() + HASHING_MS_MAX };
  }

  it("makes the same hashes as the thread pool", async () => {
    const stored = await hashing.run("strangers", orderOf("a"), (derive) => hashPassword("a password", derive));
    expect(await verifyPassword("a password", stored)).equal(true);
    const verify = (lane: HashLane, password: string) =>
      hashing.run(lane, orderOf("a"), (derive) => verifyPassword(password, stored, derive));
    expect(await verify("strangers", "a password")).equal(true);
    expect(await verify("familiar", "a passwort")).equal(false);
  });

  it("never lets familiar logins wait for strangers", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stuck = hashing.run("strangers", orderOf("a"), () => released);
    const order: string[] = [];
    const waiting = hashing.run("strangers", orderOf("b"), async () => void order.push("stranger"));
    await hashing.run("familiar", orderOf("b"), async () => void order.push("familiar"));
    expect(order).deep.equal(["familiar"]);
    release();
    await Promise.all([stuck, waiting]);
    expect(order).deep.equal(["familiar", "stranger"]);
  });

  it("continues after a failure", async () => {
    const failing = hashing.run("strangers", orderOf("a"), (derive) => {
      return derive("a password", new Uint8Array(16), 32, { ln: 0, r: 8, p: 1 });
    });
    const problem = await failing.then(String, (error: unknown) => error);
    expect(problem).instanceOf(Error).and.not.instanceOf(CoordinationError);
    expect(String(problem)).include("could not be hashed").and.not.include("a password h");
    const stored = await hashing.run("strangers", orderOf("a"), (derive) => hashPassword("a password", derive));
    expect(stored).match(/^\$scrypt\$/);
  });
});
