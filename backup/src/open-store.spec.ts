import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";

/** Prints which modules of the AWS library are loaded, before and after a bucket is opened. */
const PROBE = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load(url, context, next) { if (url.includes("aws-sdk")) loaded.push(url); return next(url, context); } });
  const { openStore, parseLocation } = await import(process.argv[1]);
  const before = loaded.length;
  const store = await openStore(parseLocation("s3://backups"), { create: false });
  await store.close();
  console.log(JSON.stringify({ before, isLoadedAfter: loaded.length > 0, address: store.describe() }));
`;

describe("package of backups", () => {
  it("loads the library for S3 only when a bucket is opened", async () => {
    const door = new URL("index.ts", import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", PROBE, door]);
    expect(JSON.parse(stdout)).to.deep.equal({ before: 0, isLoadedAfter: true, address: "s3://backups/" });
  });
});
