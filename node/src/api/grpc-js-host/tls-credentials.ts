/** The credentials of a gRPC server with TLS. */

import { experimental, type ServerCredentials } from "@grpc/grpc-js";
import type { ServerTls, TlsSet } from "../../peers/index.ts";

/** Returns credentials that always follow `tls`. The library may read them any number of times. */
export function tlsCredentials(tls: ServerTls): ServerCredentials {
  const provider = new TlsProvider(tls);
  // The first argument is the provider of the server's own certificate, whatever the library calls it.
  return experimental.createCertificateProviderServerCredentials(
    provider,
    tls.needsClientCertificate ? provider : null,
    tls.needsClientCertificate,
  );
}

class TlsProvider implements experimental.CertificateProvider {
  readonly #tls: ServerTls;
  readonly #ofCa = new Set<experimental.CaCertificateUpdateListener>();
  readonly #ofIdentity = new Set<experimental.IdentityCertificateUpdateListener>();

  constructor(tls: ServerTls) {
    this.#tls = tls;
    tls.onChanged((set) => {
      for (const listener of this.#ofCa) {
        listener(caOf(set));
      }
      for (const listener of this.#ofIdentity) {
        listener(identityOf(set));
      }
    });
  }

  /** Calls the listener in a later turn: only then is the library ready. */
  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ofCa.add(listener);
    process.nextTick(() => listener(caOf(this.#tls.set)));
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ofCa.delete(listener);
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#ofIdentity.add(listener);
    process.nextTick(() => listener(identityOf(this.#tls.set)));
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#ofIdentity.delete(listener);
  }
}

function caOf({ ca = "" }: TlsSet): experimental.CaCertificateUpdate {
  return { caCertificate: Buffer.from(ca) };
}

function identityOf({ cert, key }: TlsSet): experimental.IdentityCertificateUpdate {
  return { certificate: Buffer.from(cert), privateKey: Buffer.from(key) };
}
