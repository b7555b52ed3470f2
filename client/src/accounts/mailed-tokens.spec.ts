import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember } from "../../test/index.ts";
import { requestPasswordReset, verifyEmail } from "../index.ts";

const NO_LEADER = { code: "UNAVAILABLE", reason: "NO_LEADER" } as const;

describe("mailed tokens", () => {
  const runtime = new FakeRuntime();
  let member: ScriptedMember;

  beforeEach(async () => {
    member = await ScriptedMember.start({ verifyEmail: () => ({}), requestPasswordReset: () => ({}) });
  });

  afterEach(() => member.stop());

  it("are used and asked for without an access token", async () => {
    const endpoints = [member.endpoint];
    await verifyEmail({ token: "t", endpoints }, runtime);
    await verifyEmail({ token: "t", password: "a password", endpoints }, runtime);
    await requestPasswordReset({ email: "ada@example.com", endpoints }, runtime);
    expect(member.calls.map(({ request, authorization }) => [request, authorization])).to.deep.equal([
      [{ token: "t", password: undefined }, []],
      [{ token: "t", password: "a password" }, []],
      [{ email: "ada@example.com" }, []],
    ]);
  });

  it("are used once: an attempt that may have counted is not repeated", async () => {
    member.scripts.verifyEmail = () => refuse(NO_LEADER);
    const error = await failure(verifyEmail({ token: "t", endpoints: [member.endpoint] }, runtime));
    expect(member.calls).to.have.length(1);
    expect(error).to.include(NO_LEADER);
  });

  it("are asked for until a member decides", async () => {
    let calls = 0;
    member.scripts.requestPasswordReset = () => {
      calls += 1;
      return calls === 1 ? refuse(NO_LEADER) : {};
    };
    await requestPasswordReset({ email: "ada@example.com", endpoints: [member.endpoint] }, runtime);
    expect(calls).to.equal(2);
  });
});
