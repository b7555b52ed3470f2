import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from "../connections/index.ts";
import { type OpenCall, OpenCalls } from "./open-calls.ts";

describe("OpenCalls", () => {
  function over(limits: Partial<ClientLimits>): OpenCalls {
    return new OpenCalls({ ...DEFAULT_CLIENT_LIMITS, ...limits });
  }

  /** Opens calls until one is refused. Returns those that are open, and the limit's scope and its number. */
  function openAll(calls: OpenCalls, address: string, subject: string): { open: OpenCall[]; refusal: string } {
    const open: OpenCall[] = [];
    for (;;) {
      const call = calls.arrive(address);
      try {
        call.admit("calls", subject);
        open.push(call);
      } catch (error) {
        call.close();
        return { open, refusal: refusalOf(error) };
      }
    }
  }

  function refusalOf(error: unknown): string {
    if (!(error instanceof CoordinationError)) {
      throw error;
    }
    return `${error.details.get("scope")} ${error.details.get("limit")}`;
  }

  it("leaves what an address may have to its other users too", () => {
    const calls = over({ calls: { member: 1_000, address: 16, user: 16 } });
    const found = ["anna", "ben", "cleo", "dora"].map((subject) => openAll(calls, "10.0.0.1", subject));
    expect(found.map(({ open }) => open.length)).to.deep.equal([8, 4, 2, 1]);
    expect(found.map(({ refusal }) => refusal)).to.deep.equal(["user 8", "user 4", "user 2", "user 1"]);
    for (const call of found[0]?.open ?? []) {
      call.close();
    }
    expect(openAll(calls, "10.0.0.1", "ben").open, "what the first gave back").to.have.length(3);
    expect(openAll(calls, "10.0.0.2", "anna").open, "elsewhere").to.have.length(8);
  });

  it("gives a user all that an address may have where that is all of the member", () => {
    const calls = over({ calls: { member: 16, address: 16, user: 16 } });
    expect(openAll(calls, "10.0.0.1", "anna")).to.deep.include({ refusal: "member 16" });
  });

  it("shares the bytes of an address among its users", () => {
    const calls = over({ requestBytes: { member: 1_000_000, address: 16_000, user: 16_000 } });
    const send = (subject: string): { sent: number; refusal: string } => {
      const call = calls.arrive("10.0.0.1");
      call.admit("calls", subject);
      for (let sent = 0; ; sent++) {
        try {
          call.addBytes(1_000 - 256);
        } catch (error) {
          return { sent, refusal: refusalOf(error) };
        }
      }
    };
    expect(send("anna")).to.deep.equal({ sent: 8, refusal: "user 7000" });
    expect(send("ben")).to.deep.equal({ sent: 3, refusal: "user 3000" });
    expect(send("cleo")).to.deep.equal({ sent: 1, refusal: "user 1000" });
  });
});
