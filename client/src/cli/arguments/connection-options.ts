/**
 * The options of every command that select the cluster. Secrets come only in files, because every user of a machine can
 * read program arguments.
 */

import { parseList } from "../text/index.ts";
import { option } from "./option-form.ts";

export const CONNECTION_OPTIONS = {
  endpoints: option("<LIST>", "gRPC endpoints as host:port, separated by commas", parseList),
  tokenFile: option("<FILE>", "authenticate with the token in this file"),
  apiKeyFile: option("<FILE>", "authenticate with the API key in this file"),
  context: option("<CONTEXT>", "use this context of the configuration file"),
  ca: option("<FILE>", "use TLS and trust these certificate authorities (PEM)"),
  cert: option("<FILE>", "use TLS with this client certificate (PEM)"),
  key: option("<FILE>", "private key of the certificate (PEM)"),
};
