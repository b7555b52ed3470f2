import { scryptSync } from "node:crypto";
import { expect } from "chai";
import { deriveCheaply, refused } from "../../test/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { type Derive, hashPassword, requirePassword, verifyPassword } from "./password.ts";

/** RFC 7914 §12, third vector: N = 16384, r = 8, p = 1; only the first 32 bytes. */
const RFC_7914 = `$scrypt$ln=14,r=8,p=1$${Buffer.from("SodiumChloride").toString("base64").replace(/=+$/, "")}$${Buffer.from(
  "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2",
  "hex",
)
  .toString("base64")
  .replace(/=+$/, "")}`;

describe("passwords", () => {
  it("verify against their own hash, and no other password does", async () => {
    const stored = await hashPassword("pässwörd 1");
    expect(stored).to.match(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword("pässwörd 1", stored)).to.equal(true);
    expect(await verifyPassword("pässwörd 2", stored)).to.equal(false);
  });

  it("are hashed with their own salt", async () => {
    const hash = () => hashPassword("the same one", deriveCheaply);
    const [first, second] = await Promise.all([hash(), hash()]);
    expect(first).not.to.equal(second);
  });

  it("verify with the parameters that are stored with them (RFC 7914)", async () => {
    expect(await verifyPassword("pleaseletmein", RFC_7914)).to.equal(true);
    expect(await verifyPassword("pleaseletmeout", RFC_7914)).to.equal(false);
  });

  it("of unknown users are wrong", async () => {
    expect(await verifyPassword("whatever it is", undefined, deriveCheaply)).to.equal(false);
    expect(await verifyPassword("whatever it is", "", deriveCheaply)).to.equal(false);
  });

  it("of unknown users take as much time as stored ones", async () => {
    // The cost of a hash follows from its parameters, and from the lengths of salt and key.
    const costs: unknown[] = [];
    const derive: Derive = async (password, salt, bytes, parameters) => {
      const hash = await deriveCheaply(password, salt, bytes, parameters);
      costs.push({ saltBytes: salt.length, bytes, ...parameters });
      return hash;
    };
    const stored = await hashPassword("correct horse", deriveCheaply);
    for (const known of [stored, undefined, ""]) {
      await verifyPassword("whatever it is", known, derive);
      expect(costs.splice(0)).to.deep.equal([{ saltBytes: 16, bytes: 32, ln: 15, r: 8, p: 3 }]);
    }
  });

  it("over 1,024 bytes are wrong without being hashed", async () => {
    const long = "x".repeat(1025);
    const salt = Buffer.from("saltsaltsaltsalt");
    const hash = scryptSync(long, salt, 32, { N: 2 ** 10, r: 8, p: 1 })
      .toString("base64")
      .replace(/=+$/, "");
    const stored = `$scrypt$ln=10,r=8,p=1$${salt.toString("base64").replace(/=+$/, "")}$${hash}`;
    expect(await verifyPassword(long, stored)).to.equal(false);
  });

  it("with a stored text in an unknown format are a broken invariant", async () => {
    for (const stored of ["plain", "$scrypt$ln=15,r=8,p=3$c2FsdA$c2hvcnQ", "$argon2id$v=19$m=1,t=1,p=1$YQ$YQ"]) {
      let thrown: unknown;
      try {
        await verifyPassword("correct horse", stored);
      } catch (error) {
        thrown = error;
      }
      expect(thrown, stored).to.be.instanceOf(InvariantViolation);
      expect(String(thrown)).not.to.include(stored);
    }
  });

  it("have 8 to 1,024 bytes, counted as UTF-8", async () => {
    for (const good of ["12345678", "ÄÖÜß", "x".repeat(1024)]) {
      requirePassword(good, "password");
    }
    for (const bad of ["", "1234567", "ÄÖÜ!", "x".repeat(1025), "ß".repeat(513), "broken \ud800 half"]) {
      const error = await refused(() => requirePassword(bad, "owner.password"));
      expect(error.reason).to.equal("BAD_FIELD");
      expect(error.details.get("field")).to.equal("owner.password");
      expect(error.message).to.equal("owner.password must have 8 to 1024 bytes of UTF-8");
    }
  });

  it("have more than white space", async () => {
    requirePassword(" \t a \n     ", "password");
    for (const blank of [" ".repeat(8), "\u3000".repeat(4), "\t\n\r        ", "\u00a0".repeat(8)]) {
      const error = await refused(() => requirePassword(blank, "password"));
      expect(error.reason).to.equal("BAD_FIELD");
      expect(error.message).to.equal("password must have a character that is no white space");
    }
  });
});
