import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import {
  createIdentity,
  type Identity,
  isIdentityDraft,
  mintIdentity,
  readIdentity,
  writeIdentity,
} from "./identity.ts";
import { Refused } from "./refusal.ts";

const MEMBER: Identity = {
  format: 4,
  phase: "member",
  clusterName: "spec",
  name: "q-0",
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  memberId: 1,
  reason: "",
};

describe("identity", () => {
  function refusalOf(content: string): Refused {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "identity"), content);
    try {
      readIdentity(directory);
    } catch (error) {
      if (error instanceof Refused) {
        return error;
      }
      throw error;
    }
    throw new Error(`this was taken for an identity: ${content}`);
  }

  it("is minted without a cluster, each time with another incarnation", () => {
    const first = mintIdentity("spec", "q-0");
    const second = mintIdentity("spec", "q-0");
    const { incarnation, ...others } = first;
    expect(incarnation).to.match(/^[0-9a-f]{32}$/);
    expect(second.incarnation).not.to.equal(incarnation);
    expect(others).to.deep.equal({
      format: 4,
      phase: "empty",
      clusterName: "spec",
      name: "q-0",
      clusterId: "",
      memberId: 0,
      reason: "",
    });
  });

  it("reads back what was written, in a file for the owner alone", () => {
    const directory = temporaryDirectory();
    expect(readIdentity(directory)).to.equal(null);
    const minted = mintIdentity("spec", "__proto__");
    writeIdentity(directory, minted);
    expect(readIdentity(directory)).to.deep.equal(minted);
    writeIdentity(directory, MEMBER);
    expect(readIdentity(directory)).to.deep.equal(MEMBER);
    expect(statSync(join(directory, "identity")).mode & 0o777).to.equal(0o600);
    expect(readdirSync(directory)).to.deep.equal(["identity"]);
  });

  it("is read from a file of a release that knew no reasons", () => {
    const directory = temporaryDirectory();
    const { reason, ...older } = MEMBER;
    expect(reason).to.equal("");
    writeFileSync(join(directory, "identity"), JSON.stringify(older));
    expect(readIdentity(directory)).to.deep.equal(MEMBER);
  });

  it("says why a directory was given up", () => {
    const directory = temporaryDirectory();
    for (const phase of ["removed", "refused"] as const) {
      const given = { ...MEMBER, phase, reason: 'entry 512 says "removed"' };
      writeIdentity(directory, given);
      expect(readIdentity(directory)).to.deep.equal(given);
    }
    expect(refusalOf(JSON.stringify({ ...MEMBER, phase: "removed", memberId: 0 })).message).to.include("wrong ones");
  });

  it("is made once: who comes second finds the first one's", () => {
    const directory = temporaryDirectory();
    const [first, second] = [mintIdentity("spec", "q-0"), mintIdentity("spec", "q-0")];
    createIdentity(directory, first);
    createIdentity(directory, second);
    expect(readIdentity(directory)).to.deep.equal(first);
    expect(statSync(join(directory, "identity")).mode & 0o777).to.equal(0o600);
    expect(readdirSync(directory)).to.deep.equal(["identity"]);
  });

  it("knows the file that a start leaves when it is cut short before the identity is there", () => {
    expect(isIdentityDraft(`identity.${process.pid}.new`)).to.equal(true);
    for (const name of ["identity", "identity.new", "identity.x.new", "fence", "identity.1.new.bak"]) {
      expect(isIdentityDraft(name), name).to.equal(false);
    }
  });

  it("is damaged, not absent, when it is no JSON", () => {
    for (const content of ["", "{", JSON.stringify(MEMBER).slice(0, -1), "\0"]) {
      const refusal = refusalOf(content);
      expect(refusal.message).to.include("identity is damaged: it is no JSON");
    }
  });

  it("is damaged when a field is missing or has a wrong value", () => {
    const fields = Object.entries(MEMBER);
    const contents: unknown[] = [null, 7, "identity", [], {}];
    for (const [name] of fields.filter(([name]) => name !== "reason")) {
      contents.push(Object.fromEntries(fields.filter(([other]) => other !== name)));
    }
    const wrong: Partial<Record<keyof Identity, readonly unknown[]>> = {
      format: ["3", null],
      phase: ["damaged", "", "Member"],
      clusterName: [1, null],
      name: [1, null],
      incarnation: ["", MEMBER.incarnation.toUpperCase(), MEMBER.incarnation.slice(1), 5],
      clusterId: ["", "00112233-4455-6677-8899-aabbccddeefg", 5],
      memberId: [0, -1, 1.5, "1", null, 2 ** 53],
      reason: [1, null, {}],
    };
    for (const [name, values] of Object.entries(wrong)) {
      contents.push(...values.map((value) => ({ ...MEMBER, [name]: value })));
    }
    for (const content of contents) {
      const refusal = refusalOf(JSON.stringify(content));
      expect(refusal.message).to.include("identity is damaged: it lacks fields or has wrong ones");
    }
  });

  it("is refused where another release has written it in another format, whatever else it holds", () => {
    for (const format of [0, 1, 2, 5]) {
      const directory = temporaryDirectory();
      writeFileSync(join(directory, "identity"), JSON.stringify({ format, members: [] }));
      expect(() => readIdentity(directory)).to.throw(Refused, `data of format ${format}, and this release reads`);
    }
  });

  it("is itself or refused as damaged after any single flipped bit, and never taken for another one", () => {
    const text = readFileSync(writtenTo(temporaryDirectory(), MEMBER));
    const read = new Set<string>();
    for (let bit = 0; bit < text.length * 8; bit++) {
      const flipped = Buffer.from(text);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const directory = temporaryDirectory();
      writeFileSync(join(directory, "identity"), flipped);
      try {
        // Only the names of the checksum or the reason may change without being detected.
        expect(readIdentity(directory), `bit ${bit}`).to.deep.equal(MEMBER);
        read.add("itself");
      } catch (error) {
        expect(error, `bit ${bit}`).to.be.instanceOf(Refused);
        expect((error as Refused).message, `bit ${bit}`).to.include(`${join(directory, "identity")} is damaged: it `);
        expect((error as Refused).state).to.equal("MEMBER_REFUSED");
        read.add("refused");
      }
    }
    expect([...read]).to.have.members(["itself", "refused"]);
  });

  function writtenTo(directory: string, identity: Identity): string {
    writeIdentity(directory, identity);
    return join(directory, "identity");
  }
});
