import { expect } from "chai";
import { failureOf, problemOf } from "./s3-errors.ts";

function error(name: string, status?: number, code?: string): Error {
  const metadata = status === undefined ? {} : { $metadata: { httpStatusCode: status } };
  return Object.assign(new Error(`about\n${name}.`), { name, ...metadata, ...(code === undefined ? {} : { code }) });
}

describe("error of an S3 server", () => {
  it("has a kind, and shows whether a retry can help", () => {
    const cases: [Error, string, boolean][] = [
      [error("NoSuchBucket", 404), "no-such-bucket", false],
      [error("NoSuchKey", 404), "not-found", false],
      [error("NotFound", 404), "not-found", false],
      [error("AccessDenied", 403), "denied", false],
      [error("SignatureDoesNotMatch", 403), "denied", false],
      [error("CredentialsProviderError"), "denied", false],
      [error("QuotaExceeded", 403), "full", false],
      [error("Unknown", 507), "full", false],
      [error("SlowDown", 503), "throttled", true],
      [error("Unknown", 429), "throttled", true],
      [error("Unknown", 503), "throttled", true],
      [error("InternalError", 500), "other", true],
      [error("NotImplemented", 501), "other", false],
      [error("InvalidArgument", 400), "other", false],
      [error("TimeoutError"), "unreachable", true],
      [error("RequestTimeout", 400), "unreachable", true],
      [error("Error", undefined, "ECONNREFUSED"), "unreachable", true],
      [error("Error", undefined, "ENOTFOUND"), "unreachable", true],
      [error("Error", undefined, "SELF_SIGNED_CERT_IN_CHAIN"), "unreachable", false],
      [error("Error"), "other", false],
    ];
    for (const [cause, kind, isRetriable] of cases) {
      expect(problemOf(cause), `${cause.name} ${kind}`).to.include({ kind, isRetriable });
    }
  });

  it("becomes one line that names the store and the next step", () => {
    expect(failureOf("s3://backups/", "put a", problemOf(error("AccessDenied", 403))).message).to.equal(
      "s3://backups/: cannot put a: AccessDenied: about AccessDenied (HTTP 403). " +
        "Check the credentials, and that they may list, read, write and delete there.",
    );
    expect(problemOf(error("Error", undefined, "SELF_SIGNED_CERT_IN_CHAIN")).reason).to.contain("ca-file");
    expect(problemOf("odd").reason).to.equal("odd");
  });
});
