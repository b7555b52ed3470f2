/**
 * A self-signed certificate for 127.0.0.1 and localhost, valid from 2020 to 2120, with its key. It protects nothing:
 * specs use it as authority, server certificate and client certificate.
 */

/** The certificate, in PEM. */
export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
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
export const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUwZOyGvLHdh5lljU
DY2YQxSFPQJ756AxbYP4Lah/5i6hRANCAARqZOBxN1Arxh/y433uspbicbO3Khnm
HVwD/wpkRG8a/WoyfzY15/AdKXBX11n2KGl8j9Y+DAt35rMGjGM8+t6p
-----END PRIVATE KEY-----
`;

/** A second certificate of this kind, for 127.0.0.2 and stranger.invalid, where no server is. */
export const UNTRUSTED_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBazCCARKgAwIBAgIBATAKBggqhkjOPQQDAjATMREwDwYDVQQDDAhzdHJhbmdl
cjAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowEzERMA8GA1UEAwwI
c3RyYW5nZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ8F9AN4ywr5BkeBZRt
/ko0UeGRzAqqFIGWkDj50Em9gIOAkaNV+VjYd9MGu1BOM5xf56AxzTFYBoxtp0XE
8fUYo1UwUzAhBgNVHREEGjAYhwR/AAACghBzdHJhbmdlci5pbnZhbGlkMA8GA1Ud
EwEB/wQFMAMBAf8wHQYDVR0OBBYEFNJ9rfSjgtlG0CgFtIv7qv6tg9C2MAoGCCqG
SM49BAMCA0cAMEQCIE1liBdk0ojDLIci+r2nh5D0RpQNcXwpK/Ary9B1xsWaAiAP
vWVopDxs7dOI8Hpd2jq6XO6gEqbY56xAjL3JCI9k+w==
-----END CERTIFICATE-----
`;

/** The private key of the second certificate. */
export const UNTRUSTED_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgk12uiqew/xwxnXjl
mCsxXiOJqq6P6/SLbiaalUB1ykOhRANCAAQ8F9AN4ywr5BkeBZRt/ko0UeGRzAqq
FIGWkDj50Em9gIOAkaNV+VjYd9MGu1BOM5xf56AxzTFYBoxtp0XE8fUY
-----END PRIVATE KEY-----
`;
