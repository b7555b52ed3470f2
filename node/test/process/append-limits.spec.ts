/**
 * Rate limits of appends at the HTTP port of a real member: a batch counts once, and an append beyond the limit gets
 * 429.
 */

import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type Listening, MemberUnderTest } from "../harness/index.ts";

const REQUESTS = 6;
/** Long enough that no quota returns during the test. */
const WINDOW_SECS = 36_000;
const EVENTS = 5_000;

describe("the rate limit of appends", function () {
  this.timeout(60_000);
  let directory: string;
  let member: MemberUnderTest;
  let listening: Listening;
  let token: string;

  before(async () => {
    const flags = ["--rate-limit", `http=${REQUESTS}/${WINDOW_SECS}/${REQUESTS}`];
    directory = join(temporaryDirectory(), "member");
    member = new MemberUnderTest(directory, { flags });
    listening = await member.start();
    token = await member.token(listening);
  });

  after(() => member?.kill());

  async function send(method: string, path: string, body?: string, key?: string) {
    const response = await fetch(`http://${listening.http}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(key === undefined ? {} : { "Idempotency-Key": key }) },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    });
    const left = Number(/;r=([0-9]+);/.exec(response.headers.get("RateLimit") ?? "")?.[1]);
    return { status: response.status, left, headers: response.headers, body: JSON.parse(await response.text()) };
  }

  it("counts a batch once, repeated or not, and refuses what is beyond it with 429 and stores nothing of it", async () => {
    const made = await send("POST", "/logs", '{"name":"limited"}');
    expect([made.status, made.left]).deep.equal([201, REQUESTS - 1]);
    const path = `/logs/${made.body.log_id}`;
    const events = "x\n".repeat(EVENTS);
    const batch = await send("POST", `${path}/append_batch?delimiter=%0A`, events, "batch");
    expect([batch.status, batch.left, batch.body.last_sequence]).deep.equal([200, REQUESTS - 2, EVENTS]);
    const again = await send("POST", `${path}/append_batch?delimiter=%0A`, events, "batch");
    expect([again.status, again.left, again.body.last_sequence]).deep.equal([200, REQUESTS - 3, EVENTS]);
    for (let left = REQUESTS - 4; left > 0; left--) {
      const appended = await send("POST", `${path}/append`, "y");
      expect([appended.status, appended.left]).deep.equal([200, left]);
    }
    const last = await send("GET", path);
    expect([last.status, last.left]).deep.equal([200, 0]);
    const stored = last.body.last_sequence;
    expect(stored).equal(EVENTS + REQUESTS - 4);
    for (const attempt of [
      await send("POST", `${path}/append`, "z", "refused"),
      await send("POST", `${path}/append_batch?delimiter=%0A`, events, "refused"),
      await send("POST", `${path}/append_batch?delimiter=%0A`, events, "batch"),
    ]) {
      expect([attempt.status, attempt.body.code, attempt.left]).deep.equal([429, "rate_limited", 0]);
      expect(Number(attempt.headers.get("Retry-After"))).within(1, WINDOW_SECS / REQUESTS);
    }
    await member.kill();
    // On the same data without a limit: the refused events are not there.
    member = new MemberUnderTest(directory);
    listening = await member.start();
    const { status, body } = await send("GET", path);
    expect([status, body.last_sequence]).deep.equal([200, stored]);
  });
});
