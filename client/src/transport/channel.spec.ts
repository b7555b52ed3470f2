import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  failure,
  runtimeForUnreached,
  ScriptedMember,
  TEST_CERTIFICATE,
  TEST_KEY,
  UNTRUSTED_CERTIFICATE,
  UNTRUSTED_KEY,
} from "../../test/index.ts";
import { createClient, QuoinError, systemRuntime, type TlsOptions } from "../index.ts";

describe("channels", () => {
  let member: ScriptedMember;

  afterEach(() => member.stop());

  async function get(
    tls: TlsOptions | undefined,
    { maxMessageBytes, endpoint = member.endpoint }: { maxMessageBytes?: number; endpoint?: string } = {},
  ): Promise<number | QuoinError> {
    const client = createClient({
      endpoints: [endpoint],
      credentials: { token: "t" },
      tls,
      channel: { maxMessageBytes },
      runtime: runtimeForUnreached(),
    });
    try {
      return (await client.keyValue.get("n", "k")).revision;
    } catch (error) {
      return QuoinError.from(error);
    } finally {
      client.close();
    }
  }

  it("speak TLS with the given authority and certificate, and only with them", async () => {
    member = await ScriptedMember.start(
      { getKey: () => ({ revision: 1n }) },
      { tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } },
    );
    const tls = { ca: TEST_CERTIFICATE, certificate: TEST_CERTIFICATE, key: TEST_KEY };
    expect(await get(tls), "an address that the certificate names").to.equal(1);
    const port = member.endpoint.split(":")[1];
    expect(await get(tls, { endpoint: `localhost:${port}` }), "a name that the certificate has").to.equal(1);
    expect(
      await get({ ca: Buffer.from(TEST_CERTIFICATE), certificate: Buffer.from(TEST_CERTIFICATE), key: TEST_KEY }),
    ).to.equal(1);
    for (const wrong of [undefined, {}, { certificate: TEST_CERTIFICATE, key: TEST_KEY }, { ca: TEST_CERTIFICATE }]) {
      expect(await get(wrong)).to.include({ code: "UNAVAILABLE" });
    }
    expect(member.calls).to.have.length(3);
  });

  it("trust an authority from a file that has been replaced, with the next connection", async () => {
    const directory = temporaryDirectory();
    const caFile = path.join(directory, "ca.crt");
    writeFileSync(caFile, UNTRUSTED_CERTIFICATE);
    const runtime = runtimeForUnreached();
    member = await ScriptedMember.start(
      { getKey: () => ({ revision: 1n }) },
      { tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } },
    );
    const client = createClient({
      endpoints: [member.endpoint],
      credentials: { token: "t" },
      tls: { caFile, certificate: TEST_CERTIFICATE, key: TEST_KEY },
      runtime,
    });
    try {
      const early = await failure(client.keyValue.get("n", "k"));
      expect(early).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      writeFileSync(caFile, `${UNTRUSTED_CERTIFICATE}${TEST_CERTIFICATE}`);
      // The library makes the next connection after a pause of its own.
      runtime.sleep = systemRuntime.sleep;
      expect((await client.keyValue.get("n", "k")).revision).to.equal(1);
    } finally {
      client.close();
    }
  });

  it("refuse a member whose certificate is for another address or name, though its authority is trusted", async () => {
    member = await ScriptedMember.start(
      { getKey: () => ({ revision: 1n }) },
      { tls: { certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY } },
    );
    const tls = { ca: UNTRUSTED_CERTIFICATE, certificate: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY };
    for (const host of ["127.0.0.1", "localhost"]) {
      const error = await get(tls, { endpoint: `${host}:${member.endpoint.split(":")[1]}` });
      expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect((error as QuoinError).message).to.include("does not match certificate's altnames");
    }
    expect(member.calls).to.have.length(0);
  });

  it("take messages up to the limit that is set", async () => {
    member = await ScriptedMember.start({ getKey: () => ({ value: Buffer.alloc(2_000), revision: 1n }) });
    expect(await get(undefined)).to.equal(1);
    const error = await get(undefined, { maxMessageBytes: 1_000 });
    expect(error).to.include({ code: "RESOURCE_EXHAUSTED", outcome: "unknown" });
  });
});
