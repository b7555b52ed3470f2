/**
 * A self-signed certificate for 127.0.0.1 and localhost, valid from 2020 to 2120, with its key. It protects nothing: specs
 * use it as authority, server certificate and client certificate in one.
 */

/** The certificate, in PEM. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBazCCARGgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAtxdW9pbiBz
cGVjczAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLcXVvaW4gc3BlY3MwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARqZOBxN1Ar
xh/y433uspbicbO3KhnmHVwD/wpkRG8a/WoyfzY15/AdKXBX11n2KGl8j9Y+DAt3
5rMGjGM8+t6po04wTDAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwDwYDVR0T
AQH/BAUwAwEB/zAdBgNVHQ4EFgQUHEqljeItMKOw7HWw9rfoMc4mPNcwCgYIKoZI
zj0EAwIDSAAwRQIgYpR3nWNoXfIuYIFLN/1OUtDziEVi3c6kquvBeubCr8gCIQCM
LZ2sr0j+brjd6xca5xheIeTzvm/npqp2mDePVo6CgA==
-----END CERTIFICATE-----
`;

/** Its private key, in PEM. */
export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUwZOyGvLHdh5lljU
DY2YQxSFPQJ756AxbYP4Lah/5i6hRANCAARqZOBxN1Arxh/y433uspbicbO3Khnm
HVwD/wpkRG8a/WoyfzY15/AdKXBX11n2KGl8j9Y+DAt35rMGjGM8+t6p
-----END PRIVATE KEY-----
`;
