/** Asks members for their status, by gRPC. Loaded only where it is used: a member that serves needs no client of gRPC. */

import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type GetStatusResponse, serviceDefinitions } from "@quoin/proto";
import type { RunningMember } from "./running-member.ts";

/** Deadline for each member's answer, in milliseconds. */
const ANSWER_MS = 5_000;

/** Asks one member. Never rejects: the returned text says why there is no answer. */
export function queryMember(
  address: string,
  security: { readonly token: string; readonly ca: Buffer | null },
): Promise<RunningMember | string> {
  const { path, requestSerialize, responseDeserialize } = serviceDefinitions.ClusterAdminService.getStatus;
  const { token, ca } = security;
  const channel = ca === null ? credentials.createInsecure() : credentials.createSsl(ca);
  // As members reach each other: by no proxy of the environment.
  const client = new Client(address, channel, { "grpc.enable_http_proxy": 0 });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  metadata.set("api-version", "v1");
  const deadline = Date.now() + ANSWER_MS;
  return new Promise<RunningMember | string>((resolve) => {
    const onAnswer = (error: ServiceError | null, response?: GetStatusResponse): void => {
      const status = response?.status;
      resolve(
        error === null && status !== undefined
          ? { address, status, known: response?.known }
          : `${address}: ${error?.details ?? "it does not report its status"}`,
      );
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, { deadline }, onAnswer);
  }).finally(() => client.close());
}
