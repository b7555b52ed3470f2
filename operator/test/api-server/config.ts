/** How the operator reaches an API server of a spec. */
import { KubeConfig } from "@kubernetes/client-node";

/** @param user what else the user has, such as where its token is */
export function configOf(url: string, user: object = {}): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    // The library takes plain HTTP only from whoever checks no certificate.
    clusters: [{ name: "c", server: url, skipTLSVerify: true }],
    users: [{ name: "u", ...user }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  return config;
}
