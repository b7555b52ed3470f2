import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { AdminAccess } from "./admin-access.ts";

describe("admin access", () => {
  let directory: string;
  let file: string;
  let logged: string[];
  let access: AdminAccess;

  beforeEach(() => {
    directory = temporaryDirectory();
    file = join(directory, "tokens");
    logged = [];
    const log = { error: (fields: object, message: string) => logged.push(`${message} ${JSON.stringify(fields)}`) };
    access = new AdminAccess(file, log);
  });

  function admits(token: string): boolean {
    try {
      expect(access.authenticate([`Bearer ${token}`]).principal).deep.equal({ subject: "admin", apiKeyId: "" });
      return true;
    } catch (error) {
      expect(error).instanceOf(CoordinationError);
      expect((error as CoordinationError).reason).equal("TOKEN_INVALID");
      expect((error as CoordinationError).message).not.to.include(token);
      return false;
    }
  }

  it("admits every caller with one of the tokens", () => {
    writeFileSync(file, "first-token\n\n  second-token  \r\nthird-token");
    for (const token of ["first-token", "second-token", "third-token"]) {
      expect(admits(token), token).equal(true);
    }
    for (const token of ["first", "first-tokenx", "FIRST-TOKEN", "first-token/second-token"]) {
      expect(admits(token), token).equal(false);
    }
  });

  it("ignores blank lines", () => {
    writeFileSync(file, "\n\n");
    expect(() => access.authenticate(["Bearer "])).throw(CoordinationError, "no token");
    expect(() => access.authenticate([])).throw(CoordinationError, "missing");
    expect(admits("anything")).equal(false);
  });

  it("reads the file again when it was written or replaced", () => {
    writeFileSync(file, "old-token");
    expect(admits("old-token")).equal(true);
    writeFileSync(file, "old-token\nnew-token");
    expect(admits("new-token")).equal(true);
    writeFileSync(join(directory, "next"), "old-token\nthird-token");
    renameSync(join(directory, "next"), file);
    expect(admits("new-token")).equal(false);
    expect(admits("third-token")).equal(true);
  });

  it("refuses all calls while the file cannot be read, and logs it", () => {
    expect(admits("old-token")).equal(false);
    expect(logged).have.length(1);
    expect(logged[0]).to.include("admin token file");
    writeFileSync(file, "old-token");
    expect(admits("old-token")).equal(true);
    rmSync(file);
    expect(admits("old-token")).equal(false);
  });

  it("authorises an administrator for everything", () => {
    writeFileSync(file, "token");
    access.authenticate(["Bearer token"]);
    expect(access.authorize()).equal(undefined);
    expect(access.recheck()).equal(undefined);
  });
});
